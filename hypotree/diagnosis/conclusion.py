"""From outcomes to a Diagnosis: every code of the playbook gets its answer, then its place."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from hypotree.diagnosis.answers import Place, Tested, answer_to, places
from hypotree.diagnosis.gate_answers import Asked, ask_gate
from hypotree.diagnosis.next_command import next_command
from hypotree.diagnosis.reasoning import Answer, explanations, overall, root_causes
from hypotree.diagnosis.run import Watcher
from hypotree.diagnosis.values import Diagnosed, Diagnosis, FixAnswer, Overall
from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Verdict
from hypotree.model.wire import digest_of

_NO_WRITER = frozenset({"", "advice"})


def conclude(tested: Tested, session: str | None, started: float, watcher: Watcher) -> Diagnosis:
    """The whole diagnosis; `started` is when it began, by `time.perf_counter`."""
    answers = {p.fault: (p, answer_to(tested, p.fault)) for p in places(tested)}
    blind = tested.playbook.no_fault
    true = [a for p, a in answers.values() if a.is_true and p.fault not in blind]
    explained = explanations(true)
    roots = root_causes(true, explained)
    plain = [_diagnosed(p, a, explained.get(p.fault, ())) for p, a in answers.values()]
    fixes = _fixes(tested, plain, [answer for _, answer in answers.values()], watcher)
    found = tuple(replace(one, fix=fixes.get(one.fault)) for one in plain)
    verdict = _overall(tested, [answer for _, answer in answers.values()])
    symptoms = [a.fault.code for a in true if a.fault.is_symptom]
    return Diagnosis(
        verdict=verdict,
        draft=tested.found.inputs["draft"].path,
        subject=_subject_words(tested),
        playbook=tested.playbook.title,
        inputs=tuple(tested.found.inputs.values()),
        hypotheses=found,
        root_causes=tuple(roots),
        symptoms=tuple(symptoms),
        suspicions=tuple(a.fault.code for _, a in answers.values() if a.is_suspected),
        next=next_command(
            verdict, found, roots, symptoms, tested.playbook, tested.found.inputs, session
        ),
        notes=(*tested.found.notes, *_problems(tested)),
        evidence={digest_of(e).hex: e for o in tested.outcomes for e in o.evidence},
        session=session,
        seconds=round(time.perf_counter() - started, 3),
    )


def _diagnosed(place: Place, answer: Answer, causes: tuple[str, ...]) -> Diagnosed:
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
    tested: Tested, found: Sequence[Diagnosed], answers: Sequence[Answer], watcher: Watcher
) -> dict[str, FixAnswer]:
    asked = [
        Asked(one, answer.fault.fix, answer.evidence)
        for one, answer in zip(found, answers, strict=True)
        if answer.fault.fix not in _NO_WRITER and not answer.fault.is_symptom
    ]
    if confirmed := [one.found.fault for one in asked if one.is_open_to_fix]:
        watcher.asking(confirmed)
    return ask_gate(asked, tested.playbook, tested.found.inputs)


def _overall(tested: Tested, answers: Sequence[Answer]) -> Overall:
    no_fault = frozenset(tested.playbook.no_fault)
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
