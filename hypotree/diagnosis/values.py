"""A diagnosis as values; its JSON is `hypotree.diagnosis/1`."""

from __future__ import annotations

from typing import Literal

import msgspec

from hypotree.model.evidence import Evidence, Locator
from hypotree.model.refusal import RefusalCode
from hypotree.model.verdict import Authority, Role, Verdict

Overall = Literal["healthy", "faulty", "inconclusive"]


class FixAnswer(msgspec.Struct, frozen=True):
    """A fix that can write, and what the gate says to it now; a person's agreement comes on top."""

    name: str
    gate: Literal["allowed", "refused"]
    code: RefusalCode | None


class Diagnosed(msgspec.Struct, frozen=True, kw_only=True):
    """One hypothesis of the playbook, as it came out."""

    id: str
    fault: str
    claim: str
    verdict: Verdict
    authority: Authority
    probe: str
    why: str
    evidence: str | None
    """Digest of the evidence that decided it; None if no probe ran."""
    fix: FixAnswer | None
    """None where no fix can write it: then `advice` says what to do by hand."""
    parent: str = "symptom"
    explained_by: tuple[str, ...] = ()
    """Confirmed faults of which this one is a consequence."""
    locators: tuple[Locator, ...] = ()
    truth: tuple[str, ...] = ()
    """Inputs that it was compared with."""
    advice: str = ""
    missing: tuple[str, ...] = ()
    """Inputs that were not given and would help to decide it."""


class InputTaken(msgspec.Struct, frozen=True):
    """What was taken for which input, who named it, and why."""

    name: str
    kind: str
    role: Role
    path: str
    origin: Literal["given", "found"]
    """`found` is only proposed: it may decide findings and opens no gate before a person approves it."""
    why: str
    form: str = ""
    dependence: str = ""
    """How it depends on the draft (a link, a copy): then it can clear nothing."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """From a pile of files to the cause."""

    schema: Literal["hypotree.diagnosis/1"] = "hypotree.diagnosis/1"
    verdict: Overall
    draft: str
    subject: str
    """What the draft is, by its content."""
    playbook: str
    inputs: tuple[InputTaken, ...]
    hypotheses: tuple[Diagnosed, ...]
    root_causes: tuple[str, ...]
    """Fault codes confirmed by a source of truth that no other confirmed fault explains, best first."""
    symptoms: tuple[str, ...]
    suspicions: tuple[str, ...]
    """Confirmed by a heuristic only."""
    next: str
    notes: tuple[str, ...]
    """What was left aside, could not be read, or is not what it was given for."""
    evidence: dict[str, Evidence]
    """Every run, by digest."""
    session: str | None
    seconds: float

    def hypothesis(self, fault: str) -> Diagnosed | None:
        """The hypothesis that names `fault`."""
        return next((found for found in self.hypotheses if found.fault == fault), None)
