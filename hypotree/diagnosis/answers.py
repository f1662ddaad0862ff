"""What all runs of all probes come to for each code of the playbook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hypotree.diagnosis.discovery import Found
from hypotree.diagnosis.playbook import Playbook, Subject
from hypotree.diagnosis.reasoning import Answer, discounted, speaking
from hypotree.diagnosis.run import Outcome
from hypotree.diagnosis.sketch import Sketch
from hypotree.model.verdict import Role
from hypotree.probe.api import Fault, Probe, not_run


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
class Place:
    """One code's place in the tree."""

    id: str
    fault: str
    claim: str
    parent: str


def places(tested: Tested) -> Iterator[Place]:
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
                yield Place(ids[code], code, claim or known[code].claim, above)


def answer_to(tested: Tested, code: str) -> Answer:
    """What all runs of all probes that decide it come to."""
    answers: list[Answer] = []
    for probe in tested.probes:
        fault = probe.fault(code)
        if fault is not None:
            more = tested.playbook.explains(code)
            fault = replace(fault, explains=(*fault.explains, *more))
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
    given, own = tested.found.inputs.keys(), tested.playbook.plan(probe.name).names
    takes = sorted(probe.takes, key=lambda taken: taken.role is not Role.TRUTH)
    names = [*fault.needs, *outcome.missing, *(taken.name for taken in takes)]
    ours = dict.fromkeys(own.get(name, name) for name in names)
    return tuple(name for name in ours if name not in given)
