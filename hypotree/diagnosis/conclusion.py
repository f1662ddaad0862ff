"""From outcomes to a Diagnosis: every code of the playbook gets its answer, then its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from hypotree.diagnosis.discovery import Found
from hypotree.diagnosis.gate_answers import Asked, ask_gate
from hypotree.diagnosis.next_command import next_command
from hypotree.diagnosis.playbook import Playbook, Subject
from hypotree.diagnosis.reasoning import (
    Answer,
    discounted,
    explanations,
    overall,
    root_causes,
    speaking,
)
from hypotree.diagnosis.run import Outcome
from hypotree.diagnosis.sketch import Sketch
from hypotree.diagnosis.values import Diagnosed, Diagnosis, FixAnswer, Overall
from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.model.wire import digest_of
from hypotree.probe.api import Fault, Probe, not_run

_NO_WRITER = frozenset({"", "advice"})


@dataclass(frozen=True)
class Tested:
    """All that was looked at and run."""

    playbook: Playbook
    subject: Subject | None
    sketch: Sketch
    found: Found
    probes: Sequence[type[Probe]]
    outcomes: Sequence[Outcome]

    def outcome(self, probe: str) -> Outcome | None:
        """What became of one probe; None if it was not put to this subject."""
        return next((o for o in self.outcomes if o.probe.name == probe), None)


@dataclass(frozen=True)
class _Place:
    """One code's place in the tree."""

    id: str
    fault: str
    claim: str
    parent: str


def conclude(tested: Tested, session: str | None, seconds: float) -> Diagnosis:
    """The whole diagnosis."""
    answers = {p.fault: (p, _answer(tested, p.fault)) for p in _places(tested)}
    true = [answer for _, answer in answers.values() if answer.is_true]
    explained = explanations(true)
    roots = root_causes(true, explained)
    plain = [_diagnosed(p, a, explained.get(p.fault, ())) for p, a in answers.values()]
    fixes = _fixes(tested, plain, [answer for _, answer in answers.values()])
    found = tuple(replace(one, fix=fixes.get(one.fault)) for one in plain)
    symptoms = [a.fault.code for a in true if a.fault.is_symptom]
    return Diagnosis(
        verdict=_overall(tested, [answer for _, answer in answers.values()]),
        draft=tested.found.inputs["draft"].path,
        subject=_subject_words(tested),
        playbook=tested.playbook.title,
        inputs=tuple(tested.found.inputs.values()),
        hypotheses=found,
        root_causes=tuple(roots),
        symptoms=tuple(symptoms),
        suspicions=tuple(a.fault.code for _, a in answers.values() if a.is_suspected),
        next=next_command(found, roots, symptoms, tested.playbook, tested.found.inputs, session),
        notes=tuple([*tested.found.notes, *_problems(tested)]),
        evidence={digest_of(e).hex: e for o in tested.outcomes for e in o.evidence},
        session=session,
        seconds=round(seconds, 3),
    )


def _places(tested: Tested) -> Iterator[_Place]:
    """Symptoms, then the playbook's tree, then what other installed probes decide."""
    known = {f.code: f for probe in tested.probes for f in probe.decides}
    named = [(s.fault, "", "") for s in tested.playbook.symptoms]
    tree = [(node.fault, node.claim, parent) for node, parent in tested.playbook.walk()]
    listed = {code for code, _, _ in [*named, *tree]}
    others = [(code, "", "") for code in known if code not in listed]
    ids: dict[str, str] = {}
    for letter, rows in (("S", named), ("H", [*tree, *others])):
        for code, claim, parent in rows:
            if code in known:
                ids[code] = f"{letter}{sum(i.startswith(letter) for i in ids.values()) + 1}"
                above = ids.get(parent, "symptom")
                yield _Place(ids[code], code, claim or known[code].claim, above)


def _answer(tested: Tested, code: str) -> Answer:
    """What all runs of all probes that decide it come to."""
    answers: list[Answer] = []
    for probe in tested.probes:
        fault = probe.fault(code)
        if fault is not None:
            answers += _answers_of(tested, probe, fault)
    return speaking(answers)


def _answers_of(tested: Tested, probe: type[Probe], fault: Fault) -> list[Answer]:
    outcome = tested.outcome(probe.name)
    if outcome is None:
        what = tested.subject.what if tested.subject else "no such thing"
        why = f"it is a question about {tested.playbook.title}, and this is {what}"
        return [Answer(probe.name, fault, not_run(fault.code, why))]
    missing = _missing(tested, probe, fault, outcome)
    dependent = {n: i.dependence for n, i in tested.found.inputs.items() if i.dependence}
    answers = [
        Answer(probe.name, fault, discounted(finding, dependent), evidence, missing)
        for evidence in outcome.evidence
        if (finding := evidence.finding(fault.code)) is not None
    ]
    if outcome.problem and not answers:
        return [Answer(probe.name, fault, not_run(fault.code, outcome.problem), None, missing)]
    return answers


def _missing(tested: Tested, probe: type[Probe], fault: Fault, outcome: Outcome) -> tuple[str, ...]:
    """Inputs that this code could do with: those it needs first, then truths, then observations."""
    given = tested.found.inputs.keys()
    takes = sorted(probe.takes, key=lambda taken: taken.role is not Role.TRUTH)
    names = [*fault.needs, *outcome.missing, *(taken.name for taken in takes)]
    return tuple(n for n in dict.fromkeys(names) if n not in given)


def _diagnosed(place: _Place, answer: Answer, causes: tuple[str, ...]) -> Diagnosed:
    finding = answer.finding
    is_confirmed = finding.verdict is Verdict.CONFIRMED
    is_decided = finding.verdict in {Verdict.CONFIRMED, Verdict.REFUTED}
    return Diagnosed(
        id=place.id, fault=place.fault, claim=place.claim, parent=place.parent,
        verdict=finding.verdict, authority=_authority(finding), probe=answer.probe,
        why=finding.why, evidence=digest_of(answer.evidence).hex if answer.evidence else None,
        fix=None, explained_by=causes, locators=finding.locators, truth=finding.truth,
        advice=answer.fault.advice if is_confirmed else "",
        missing=() if is_decided else answer.missing,
    )  # fmt: skip


def _authority(finding: Finding) -> Authority:
    is_decided = finding.verdict in {Verdict.CONFIRMED, Verdict.REFUTED}
    return finding.authority if is_decided else Authority.NONE


def _fixes(
    tested: Tested, found: Sequence[Diagnosed], answers: Sequence[Answer]
) -> dict[str, FixAnswer]:
    asked = [
        Asked(one, answer.fault.fix, answer.evidence)
        for one, answer in zip(found, answers, strict=True)
        if answer.fault.fix not in _NO_WRITER and not answer.fault.is_symptom
    ]
    return ask_gate(asked, tested.playbook, tested.found.inputs)


def _overall(tested: Tested, answers: Sequence[Answer]) -> Overall:
    no_fault = frozenset(s.fault for s in tested.playbook.symptoms if not s.is_fault)
    ran = {o.probe.name for o in tested.outcomes if o.ran}
    verdict = overall(answers, no_fault, ran, set(tested.playbook.healthy_needs))
    if verdict == "healthy" and any(o.is_unreadable for o in tested.outcomes):
        return "inconclusive"
    return verdict


def _subject_words(tested: Tested) -> str:
    if tested.subject is not None:
        return tested.subject.what
    fit = next((s.what for s in tested.playbook.subjects if s.is_fit), "a drafter")
    return f"taken for {fit}: nothing in it says what it is"


def _problems(tested: Tested) -> Iterator[str]:
    """What could not be read or run; what only lacks an input is told by its hypotheses."""
    for outcome in tested.outcomes:
        if outcome.problem and not outcome.missing:
            yield f"{outcome.probe.name}: {outcome.problem}"
    for taken in tested.found.inputs.values():
        if taken.dependence:
            yield f"{taken.name} clears nothing: {taken.dependence}"
    installed = {probe.name for probe in tested.probes}
    for name in tested.playbook.healthy_needs:
        if name not in installed:
            yield f"nothing can be called healthy here: probe {name} is not installed"
