"""admit(): every refusal from planted facts, the order of precedence, and the shape of a refusal."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from gate_facts import CODE, FAULT, FLIPS, GOOD_TRUTH, PLAN, evidence, facts

from hypotree.digest import Digest
from hypotree.gate import Permit, TruthFacts, admit
from hypotree.model.fix import StagedFinding
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.model.verdict import Authority, Verdict
from hypotree.model.wire import readable_json

OTHER = Digest.of(b"other")
BREAKS = StagedFinding("other", "x.y", Verdict.REFUTED, Verdict.CONFIRMED, "now it is wrong")

#: One planted obstacle for each code, and a word that the refusal must say of it.
OBSTACLES: dict[RefusalCode, tuple[dict[str, Any], str]] = {
    RefusalCode.JOURNAL_BROKEN: ({"journal_problem": "line 3: changed"}, "line 3"),
    RefusalCode.UNSAFE_TARGET: ({"unsafe": ("a.safetensors is a link",)}, "is a link"),
    RefusalCode.NO_EVIDENCE: ({"evidence": None, "evidence_sha256": None}, "has not run"),
    RefusalCode.STALE_HYPOTHESIS: ({"hypothesis_now": OTHER}, "edited"),
    RefusalCode.STALE_PROBE: ({"code_now": OTHER}, CODE.short),
    RefusalCode.STALE_ARTIFACT: ({"changed_reads": ("draft: d2t",)}, "draft: d2t"),
    RefusalCode.PROBE_INVALID: ({"evidence": evidence(Verdict.INVALID)}, "invalid"),
    RefusalCode.NOT_EXERCISED: ({"evidence": evidence(Verdict.NOT_EXERCISED)}, "not-exercised"),
    RefusalCode.INCONCLUSIVE: ({"evidence": evidence(Verdict.INCONCLUSIVE)}, "inconclusive"),
    RefusalCode.REFUTED: ({"evidence": evidence(Verdict.REFUTED)}, "refuted"),
    RefusalCode.HEURISTIC_ONLY: (
        {"evidence": evidence(Verdict.CONFIRMED, Authority.HEURISTIC)}, "guess",
    ),
    RefusalCode.TRUTH_NOT_INDEPENDENT: (
        {"truths": (replace(GOOD_TRUTH, dependence="a copy of it"),)}, "a copy of it",
    ),
    RefusalCode.TRUTH_NOT_APPROVED: (
        {"truths": (replace(GOOD_TRUTH, is_approved=False, now="proposed by agent"),)}, "agent",
    ),
    RefusalCode.PROBE_CANNOT_FAIL: ({"canary_faults": ("acme.other",)}, FAULT),
    RefusalCode.RIVAL_OPEN: ({"open_rivals": ("H7",)}, "H7"),
    RefusalCode.OUT_OF_SCOPE: ({"out_of_scope": ("lm_head.weight",)}, "lm_head.weight"),
    RefusalCode.FIX_DOES_NOT_FLIP: (
        {"staged": (StagedFinding("acme", FAULT, Verdict.CONFIRMED, Verdict.CONFIRMED, "still so"),)},
        "still so",
    ),
    RefusalCode.FIX_BREAKS_OTHER: ({"staged": (FLIPS, BREAKS)}, "now it is wrong"),
    RefusalCode.NEEDS_APPROVAL: ({"is_plan_approved": False}, "no person"),
}  # fmt: skip


def refused(**changes: Any) -> Refusal:
    decision = admit(facts(**changes))
    assert isinstance(decision, Refusal)
    return decision


def test_where_nothing_stands_in_the_way_a_permit_names_plan_and_evidence() -> None:
    decision = admit(facts())
    assert isinstance(decision, Permit)
    assert decision.plan == PLAN
    assert decision.evidence_sha256 == facts().evidence_sha256


def test_every_code_has_an_obstacle() -> None:
    assert list(OBSTACLES) == list(RefusalCode)


@pytest.mark.parametrize("code", RefusalCode)
def test_one_obstacle_gives_its_own_code_and_says_what_was_found(code: RefusalCode) -> None:
    changes, word = OBSTACLES[code]
    decision = refused(**changes)
    assert decision.code is code
    unprobed = (RefusalCode.FIX_DOES_NOT_FLIP,) if code is RefusalCode.NO_EVIDENCE else ()
    assert decision.also == unprobed
    assert word in decision.found
    assert decision.asked == f"apply restore-tensor for H1 ({FAULT})"
    assert decision.next


PAIRS = [
    (one, other)
    for one, other in itertools.combinations(RefusalCode, 2)
    if RefusalCode.NO_EVIDENCE not in {one, other}
    and not OBSTACLES[one][0].keys() & OBSTACLES[other][0].keys()
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_obstacles_the_earlier_answers_and_the_later_is_listed(
    first: RefusalCode, second: RefusalCode
) -> None:
    decision = refused(**OBSTACLES[second][0], **OBSTACLES[first][0])
    assert (decision.code, decision.also) == (first, (second,))


def test_a_refusal_as_json_has_five_keys() -> None:
    shown = json.loads(readable_json(refused(is_plan_approved=False, open_rivals=("H2",))))
    assert list(shown) == ["code", "asked", "found", "next", "also"]
    assert (shown["code"], shown["also"]) == ("RIVAL_OPEN", ["NEEDS_APPROVAL"])


# -- edges ------------------------------------------------------------------------------------


def test_evidence_that_says_nothing_of_the_fault_is_no_evidence() -> None:
    decision = refused(evidence=evidence(findings=()))
    assert decision.code is RefusalCode.NO_EVIDENCE
    assert "says nothing about" in decision.found


def test_a_newer_version_of_the_probe_is_another_probe() -> None:
    assert refused(version_now="2").code is RefusalCode.STALE_PROBE


def test_a_code_that_was_not_run_is_inconclusive() -> None:
    assert refused(evidence=evidence(Verdict.NOT_RUN)).code is RefusalCode.INCONCLUSIVE


def test_a_confirmation_without_authority_is_a_guess() -> None:
    found = refused(evidence=evidence(Verdict.CONFIRMED, Authority.NONE))
    assert found.code is RefusalCode.HEURISTIC_ONLY


def test_where_nothing_independent_says_what_is_right_nothing_is_written() -> None:
    found = refused(truths=())
    assert found.code is RefusalCode.TRUTH_NOT_INDEPENDENT
    assert "suspect alone" in found.found


def test_one_dependent_truth_among_two_refuses() -> None:
    copy = TruthFacts("target", "t", "a link to it", is_approved=True)
    assert refused(truths=(GOOD_TRUTH, copy)).code is RefusalCode.TRUTH_NOT_INDEPENDENT


@pytest.mark.parametrize("after", [v for v in Verdict if v is not Verdict.REFUTED])
def test_only_a_refuted_fault_on_the_staged_view_is_a_flip(after: Verdict) -> None:
    staged = StagedFinding("acme", FAULT, Verdict.CONFIRMED, after, "why")
    assert refused(staged=(staged,)).code is RefusalCode.FIX_DOES_NOT_FLIP


def test_another_probes_word_on_the_same_fault_is_no_flip() -> None:
    other = StagedFinding("other", FAULT, Verdict.CONFIRMED, Verdict.REFUTED)
    assert refused(staged=(other,)).code is RefusalCode.FIX_DOES_NOT_FLIP


@pytest.mark.parametrize("before", [v for v in Verdict if v is not Verdict.REFUTED] + [None])
def test_what_was_not_refuted_before_is_not_broken(before: Verdict | None) -> None:
    revealed = StagedFinding("other", "x.y", before, Verdict.CONFIRMED)
    assert isinstance(admit(facts(staged=(FLIPS, revealed))), Permit)


def test_without_a_plan_the_reason_is_said() -> None:
    found = refused(plan=None, plan_problem="this fix is advice")
    assert (found.code, found.found) == (RefusalCode.FIX_DOES_NOT_FLIP, "this fix is advice")


def test_under_auto_no_person_is_needed() -> None:
    assert isinstance(admit(facts(needs_approval="", is_plan_approved=False)), Permit)


def test_a_question_that_was_not_put_stands_in_the_way_but_is_not_listed_beside_others() -> None:
    assert refused(canary_faults=None).code is RefusalCode.PROBE_CANNOT_FAIL
    assert refused(staged=None).code is RefusalCode.FIX_DOES_NOT_FLIP
    found = refused(canary_faults=None, staged=None, hypothesis_now=OTHER)
    assert (found.code, found.also) == (RefusalCode.STALE_HYPOTHESIS, ())
