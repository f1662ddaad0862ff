"""From findings to causes: what explains what, what counts, and what a verdict is made of."""

from __future__ import annotations

import pytest

from hypotree.diagnosis.reasoning import (
    Answer,
    discounted,
    explanations,
    overall,
    root_causes,
    speaking,
)
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import Fault

TRUE, GUESS, NONE = Authority.SOURCE_OF_TRUTH, Authority.HEURISTIC, Authority.NONE


def answer(
    code: str,
    verdict: Verdict = Verdict.CONFIRMED,
    authority: Authority = TRUE,
    explains: tuple[str, ...] = (),
    tensors: tuple[str, ...] = (),
    *,
    probe: str = "p",
    symptom: bool = False,
) -> Answer:
    fault = Fault(code, "a claim", explains=explains, is_symptom=symptom)
    places = tuple(Locator("draft", tensor=name) for name in tensors)
    return Answer(probe, fault, Finding(code, verdict, authority, f"why of {probe}", places))


def roots(*true: Answer) -> list[str]:
    return root_causes(true, explanations(true))


def test_what_another_fault_explains_is_no_cause() -> None:
    renamed = answer("params.renamed", explains=("params.dropped",))
    assert roots(answer("params.dropped"), renamed) == ["params.renamed"]


def test_causes_are_followed_through_what_they_explain() -> None:
    true = [
        answer("aux.delegation-missing", explains=("fusion.bypassed",)),
        answer("fusion.bypassed", explains=("acceptance.at-floor",)),
        answer("acceptance.at-floor", symptom=True),
    ]
    assert roots(*true) == ["aux.delegation-missing"]
    explained = explanations(true)
    assert set(explained["acceptance.at-floor"]) == {"fusion.bypassed", "aux.delegation-missing"}


def test_a_symptom_is_never_a_cause() -> None:
    assert roots(answer("acceptance.at-floor", symptom=True)) == []


def test_stacked_faults_are_both_causes_and_the_one_that_explains_more_comes_first() -> None:
    small = answer("a.small", explains=("x.one",))
    large = answer("a.large", explains=("x.one", "x.two"))
    assert roots(small, large, answer("x.one"), answer("x.two")) == ["a.large", "a.small"]


def test_a_cause_explains_only_the_tensors_that_it_is_about() -> None:
    renamed = answer("params.renamed", explains=("params.dropped",), tensors=("q", "k"))
    assert roots(renamed, answer("params.dropped", tensors=("q", "k"))) == ["params.renamed"]
    both = roots(renamed, answer("params.dropped", tensors=("q", "k", "q_norm")))
    assert both == ["params.renamed", "params.dropped"]


def test_of_two_that_explain_each_other_the_first_stands() -> None:
    one, other = answer("a.one", explains=("a.two",)), answer("a.two", explains=("a.one",))
    assert roots(one, other) == ["a.one"]
    assert roots(other, one) == ["a.two"]


@pytest.mark.parametrize("first", [0, 1])
def test_truth_speaks_before_a_guess_and_a_decision_before_an_open_question(first: int) -> None:
    pairs = [
        (answer("a.b", authority=GUESS), answer("a.b", Verdict.REFUTED, TRUE)),
        (answer("a.b", Verdict.INVALID, NONE), answer("a.b", Verdict.REFUTED, GUESS)),
        (answer("a.b", Verdict.NOT_RUN, NONE), answer("a.b", Verdict.INCONCLUSIVE, NONE)),
    ]
    for loser, winner in pairs:
        both = (loser, winner) if first else (winner, loser)
        assert speaking(both).finding.verdict is winner.finding.verdict


def test_probes_that_contradict_each_other_are_both_heard() -> None:
    said = speaking([answer("a.b", probe="log"), answer("a.b", Verdict.REFUTED, probe="replay")])
    assert said.finding.verdict is Verdict.CONFIRMED
    assert "replay finds it refuted: why of replay" in said.finding.why


def test_a_truth_that_is_the_suspect_itself_clears_nothing() -> None:
    cleared = Finding("d2t.x", Verdict.REFUTED, TRUE, "all agree", truth=("truth",))
    found = discounted(cleared, {"truth": "it is a copy of the draft's file"})
    assert (found.verdict, found.authority) == (Verdict.INCONCLUSIVE, NONE)
    assert "proves nothing" in found.why
    assert discounted(cleared, {}) is cleared


NEEDS = {"file-integrity"}


@pytest.mark.parametrize(
    ("answers", "ran", "expected"),
    [
        ([answer("a.b", Verdict.REFUTED)], NEEDS, "healthy"),
        ([answer("a.b", Verdict.REFUTED)], set(), "inconclusive"),
        ([answer("a.b", Verdict.NOT_RUN, NONE)], NEEDS, "healthy"),
        ([answer("a.b", Verdict.INCONCLUSIVE, NONE)], NEEDS, "inconclusive"),
        ([answer("a.b", Verdict.INVALID, NONE)], NEEDS, "inconclusive"),
        ([answer("a.b", authority=GUESS)], NEEDS, "inconclusive"),
        ([answer("a.b")], set(), "faulty"),
        ([answer("acceptance.at-floor", symptom=True)], NEEDS, "faulty"),
        ([answer("acceptance.not-exercised", symptom=True)], NEEDS, "inconclusive"),
    ],
)
def test_the_verdict_is_the_designs(answers: list[Answer], ran: set[str], expected: str) -> None:
    no_fault = frozenset({"acceptance.not-exercised"})
    assert overall(answers, no_fault, ran, NEEDS) == expected
