"""The closed union of what can be journaled, and the record around it."""

from __future__ import annotations

import msgspec

from hypotree.digest import Digest
from hypotree.model.declaration import Artifact, Declaration, Hypothesis
from hypotree.model.evidence import Evidence
from hypotree.model.fix import FileSwap, StagedFinding
from hypotree.model.refusal import Refusal


class _Event(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    pass


class DeclarationLoaded(_Event, frozen=True, tag="declaration-loaded"):
    """A session.yaml was read; `truths` are the content digests of its artifacts at that time."""

    yaml_sha256: Digest
    declaration: Declaration
    contents: dict[str, Digest]
    previous: Digest | None = None
    """The yaml_sha256 in force before: None for the first, which is a person's declaration."""


class ArtifactAttached(_Event, frozen=True, tag="artifact-attached"):
    """An artifact was added to the session after it was opened."""

    name: str
    artifact: Artifact
    content: Digest | None = None


class ArtifactApproved(_Event, frozen=True, tag="artifact-approved"):
    """A person took this content of an artifact for what it was proposed as."""

    name: str
    artifact: Artifact
    content: Digest


class DeclarationApproved(_Event, frozen=True, tag="declaration-approved"):
    """A person took over the policy of a changed session.yaml."""

    yaml_sha256: Digest


class HypothesisAdded(_Event, frozen=True, tag="hypothesis-added"):
    """A node was added by a person, an agent or a script."""

    id: str
    hypothesis: Hypothesis


class HypothesisEdited(_Event, frozen=True, tag="hypothesis-edited"):
    """A node was declared anew; what was found for the old declaration no longer speaks for it."""

    id: str
    hypothesis: Hypothesis


class EvidenceSealed(_Event, frozen=True, tag="evidence-sealed"):
    """A probe ran for a node, or for the symptom."""

    node: str
    evidence: Evidence


class CanaryRan(_Event, frozen=True, tag="canary-ran"):
    """The probe was put to its own planted faults and healthy twins on this machine."""

    probe: str
    code_sha256: Digest
    faults: tuple[str, ...]
    """Fault codes whose planted case was confirmed and whose healthy twin was not."""
    failed: tuple[str, ...] = ()


class FixPlanned(_Event, frozen=True, tag="fix-planned"):
    """A plan was made and its staged view probed."""

    node: str
    fix: str
    plan_sha256: Digest
    staged: tuple[StagedFinding, ...]


class FixApproved(_Event, frozen=True, tag="fix-approved"):
    """A person agreed to exactly this plan."""

    node: str
    plan_sha256: Digest


class FixRefused(_Event, frozen=True, tag="fix-refused"):
    """The gate said no; nothing was written."""

    node: str
    fix: str
    refusal: Refusal


class SwapStarted(_Event, frozen=True, tag="swap-started"):
    """Undo packs are on disk and the replacing begins; without an end, recovery looks here."""

    id: str
    node: str
    swaps: tuple[FileSwap, ...]


class FixApplied(_Event, frozen=True, tag="fix-applied"):
    """The files were replaced and read back."""

    id: str
    node: str
    fix: str
    plan_sha256: Digest
    evidence_sha256: Digest
    swaps: tuple[FileSwap, ...]


class SwapUndone(_Event, frozen=True, tag="swap-undone"):
    """What `undoes` did was put back; this can be undone like any other swap."""

    id: str
    undoes: str
    node: str
    swaps: tuple[FileSwap, ...]


class SwapAbandoned(_Event, frozen=True, tag="swap-abandoned"):
    """A swap that was started is known not to have happened."""

    id: str
    why: str


class NoteAdded(_Event, frozen=True, tag="note-added"):
    """Free text on a node."""

    node: str
    text: str


Event = (
    DeclarationLoaded
    | ArtifactAttached
    | ArtifactApproved
    | DeclarationApproved
    | HypothesisAdded
    | HypothesisEdited
    | EvidenceSealed
    | CanaryRan
    | FixPlanned
    | FixApproved
    | FixRefused
    | SwapStarted
    | FixApplied
    | SwapUndone
    | SwapAbandoned
    | NoteAdded
)


class Actor(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who acted: `human` (confirmed at a terminal or by token), `cli` (a command), `agent`."""

    kind: str
    name: str = ""

    @property
    def is_agent(self) -> bool:
        """Whether what this actor brings is a proposal only."""
        return self.kind == "agent"


class Record(msgspec.Struct, frozen=True):
    """One journal line: its place, its time (UTC, ISO 8601), its actor, and the chain."""

    seq: int
    time: str
    actor: Actor
    event: Event
    prev: Digest
    sha256: Digest
