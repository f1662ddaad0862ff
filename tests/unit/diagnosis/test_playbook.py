"""Playbooks: the default one is sound, one's own is checked, and none can set a verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from hypotree.diagnosis.playbook import load_playbook
from hypotree.errors import MalformedError, UnknownNameError
from hypotree.probe.registry import all_probes

SMALL = """
playbook: 1
title: two questions
healthy_needs: [d2t-format]
inputs: {truth: {flag: --vocab-map, what: the map}}
subjects: [{what: a drafter, is_fit: true, fields: [vocab_size]}]
probes: [{probe: d2t-format, runs: [[draft, truth]]}]
symptoms: []
hypotheses: [{fault: d2t.missing, claim: the map was lost, then: [{fault: d2t.out-of-range}]}]
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text)
    return str(path)


def test_the_default_names_every_code_that_an_installed_probe_decides() -> None:
    playbook = load_playbook()
    named = {node.fault for node, _ in playbook.walk()} | {s.fault for s in playbook.symptoms}
    decided = {f.code for probe in all_probes()[0].values() for f in probe.decides}
    assert {c for c in decided if not c.startswith("acme.")} - named == set()


def test_the_default_runs_every_installed_probe_of_the_pack() -> None:
    planned = {plan.probe for plan in load_playbook().probes}
    pack = {n for n, p in all_probes()[0].items() if p.__module__.startswith("hypotree_probes")}
    assert pack - planned == set()


def test_every_input_that_a_probe_takes_can_be_asked_for() -> None:
    playbook = load_playbook()
    known = playbook.inputs.keys() | {"draft"}
    pack = [p for p in all_probes()[0].values() if p.__module__.startswith("hypotree_probes")]
    taken = {playbook.plan(p.name).names.get(t.name, t.name) for p in pack for t in p.takes}
    assert taken - known == set()


def test_symptoms_are_declared_as_symptoms_and_causes_are_not() -> None:
    playbook = load_playbook()
    symptoms = {symptom.fault for symptom in playbook.symptoms}
    for probe in all_probes()[0].values():
        for fault in probe.decides:
            if not fault.code.startswith("acme."):
                assert fault.is_symptom == (fault.code in symptoms), fault.code


def test_a_playbook_of_ones_own_is_read(tmp_path: Path) -> None:
    playbook = load_playbook(written(tmp_path, SMALL))
    assert [(n.fault, parent) for n, parent in playbook.walk()] == [
        ("d2t.missing", ""), ("d2t.out-of-range", "d2t.missing"),
    ]  # fmt: skip
    assert playbook.plan("d2t-format").runs == (("draft", "truth"),)
    assert playbook.plan("another").runs == ()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("title: two questions", "title: x\nverdict: healthy", "verdict"),
        ("claim: the map was lost", "verdict: confirmed", "verdict"),
        ("fault: d2t.out-of-range", "fault: d2t.missing", "stands there twice"),
        ("[draft, truth]", "[draft, truht]", "truht"),
        ("playbook: 1", "playbook: 2", "2"),
    ],
)
def test_a_mistake_in_it_is_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(MalformedError) as error:
        load_playbook(written(tmp_path, SMALL.replace(old, new)))
    assert says in str(error.value)


def test_one_that_is_not_there_is_said_with_those_that_are() -> None:
    with pytest.raises(UnknownNameError) as error:
        load_playbook("no-such-book")
    assert "eagle3" in str(error.value)
