"""Fold events into the state of a session. Nothing is stored but the journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from hypotree.digest import Digest
from hypotree.model import event as ev
from hypotree.model.declaration import Artifact, Hypothesis, Policy, Symptom
from hypotree.model.evidence import Evidence
from hypotree.model.fix import FileSwap, StagedFinding
from hypotree.model.refusal import Refusal


@dataclass(frozen=True)
class Sealed:
    """Evidence with its place in the journal."""

    seq: int
    time: str
    node: str
    actor: ev.Actor
    evidence: Evidence
    sha256: Digest


@dataclass(frozen=True)
class Swapped:
    """A swap that is in force or was undone by `undone_by`."""

    id: str
    seq: int
    time: str
    node: str
    actor: ev.Actor
    fix: str
    swaps: tuple[FileSwap, ...]
    undoes: str = ""
    undone_by: str = ""


@dataclass
class ArtifactState:
    """An artifact as it is declared now and what of it a person has taken over."""

    artifact: Artifact
    proposed_by: ev.Actor | None = None
    """Set while the declaration itself is only a proposal."""
    approved: dict[Digest, Artifact] = field(default_factory=dict)
    """Content digest to the declaration under which a person approved it."""


@dataclass
class SessionState:
    """Everything the journal says, folded."""

    seq: int = 0
    symptom: Symptom = field(default_factory=lambda: Symptom(what=""))
    policy: Policy = field(default_factory=Policy)
    pending_policy: tuple[Digest, Policy] | None = None
    yaml_sha256: Digest | None = None
    artifacts: dict[str, ArtifactState] = field(default_factory=dict)
    hypotheses: dict[str, Hypothesis] = field(default_factory=dict)
    declared_at: dict[str, int] = field(default_factory=dict)
    persons: set[str] = field(default_factory=set)
    """Hypotheses whose declaration in force is a person's: their bindings may say another role."""
    evidence: dict[str, list[Sealed]] = field(default_factory=dict)
    canaries: dict[tuple[str, Digest], tuple[str, ...]] = field(default_factory=dict)
    plans: dict[str, tuple[Digest, tuple[StagedFinding, ...]]] = field(default_factory=dict)
    approved_plans: dict[Digest, str] = field(default_factory=dict)
    refusals: dict[str, list[tuple[int, str, Refusal]]] = field(default_factory=dict)
    swaps: dict[str, Swapped] = field(default_factory=dict)
    started: dict[str, ev.SwapStarted] = field(default_factory=dict)
    notes: dict[str, list[tuple[int, ev.Actor, str]]] = field(default_factory=dict)

    def latest(self, node: str) -> Sealed | None:
        """The newest evidence of a node."""
        runs = self.evidence.get(node)
        return runs[-1] if runs else None

    def applied(self, node: str) -> Swapped | None:
        """The newest swap by which a fix of this node is in force now, if one is."""
        mine = [swap for swap in self.in_force() if swap.node == node]
        return mine[-1] if mine else None

    def in_force(self) -> tuple[Swapped, ...]:
        """Swaps whose new bytes hold: fixes not undone, and redone ones by what brought them again."""
        return tuple(s for s in self.swaps.values() if not s.undone_by and not self.puts_back(s))

    def undone(self) -> tuple[Swapped, ...]:
        """Undos that hold: what can be done again."""
        return tuple(s for s in self.swaps.values() if not s.undone_by and self.puts_back(s))

    def puts_back(self, swap: Swapped) -> bool:
        """Whether `swap` put old bytes back: an undo of an undo is a redo."""
        back = False
        while swap.undoes in self.swaps:
            back, swap = not back, self.swaps[swap.undoes]
        return back


def fold(records: Iterable[ev.Record], state: SessionState | None = None) -> SessionState:
    """Apply `records` to `state` (a new one if None), which is changed and returned."""
    state = state or SessionState()
    for record in records:
        state.seq = record.seq
        _apply(state, record)
    return state


def _apply(state: SessionState, record: ev.Record) -> None:  # noqa: C901 - one arm an event
    match record.event:
        case ev.DeclarationLoaded() as event:
            _load(state, record, event)
        case ev.ArtifactAttached() as event:
            _attach(state, record, event)
        case ev.ArtifactApproved() | ev.DeclarationApproved() | ev.FixApproved() as event:
            if record.actor.kind == "human":
                _approve(state, event)
        case ev.HypothesisAdded() | ev.HypothesisEdited() as event:
            trusted = not record.actor.is_agent
            _place(state, record, event.id, event.hypothesis, trusted=trusted)
        case ev.EvidenceSealed() as event:
            state.evidence.setdefault(event.node, []).append(
                Sealed(
                    record.seq, record.time, event.node, record.actor, event.evidence, record.sha256
                )
            )
        case ev.CanaryRan() as event:
            state.canaries[(event.probe, event.code_sha256)] = event.faults
        case ev.FixPlanned() as event:
            state.plans[event.node] = (event.plan_sha256, event.staged)
        case ev.FixRefused() as event:
            state.refusals.setdefault(event.node, []).append((record.seq, event.fix, event.refusal))
        case ev.SwapStarted() as event:
            state.started[event.id] = event
        case ev.SwapAbandoned() as event:
            state.started.pop(event.id, None)
        case ev.FixApplied() as event:
            # A person agreed to one write: the same plan again, after an undo, asks again.
            state.approved_plans.pop(event.plan_sha256, None)
            _swapped(state, record, event.id, event.node, event.fix, event.swaps, "")
        case ev.SwapUndone() as event:
            fix = state.swaps[event.undoes].fix if event.undoes in state.swaps else ""
            _swapped(state, record, event.id, event.node, fix, event.swaps, event.undoes)
        case ev.NoteAdded() as event:
            state.notes.setdefault(event.node, []).append((record.seq, record.actor, event.text))


def _approve(
    state: SessionState, event: ev.ArtifactApproved | ev.DeclarationApproved | ev.FixApproved
) -> None:
    """Only a person's word comes here: from anybody else these events change nothing."""
    if isinstance(event, ev.FixApproved):
        state.approved_plans[event.plan_sha256] = event.node
    elif isinstance(event, ev.DeclarationApproved):
        if state.pending_policy and state.pending_policy[0] == event.yaml_sha256:
            state.policy, state.pending_policy = state.pending_policy[1], None
    else:
        known = state.artifacts.setdefault(event.name, ArtifactState(event.artifact))
        known.approved[event.content] = event.artifact
        if known.artifact == event.artifact:
            known.proposed_by = None


def _load(state: SessionState, record: ev.Record, event: ev.DeclarationLoaded) -> None:
    """The first session.yaml is a person's declaration, unless an agent was the one who opened it."""
    declaration = event.declaration
    trusted = state.yaml_sha256 is None and not record.actor.is_agent
    state.symptom = declaration.symptom
    for node, hypothesis in declaration.hypotheses.items():
        _place(state, record, node, hypothesis, trusted=trusted)
    for name, artifact in declaration.artifacts.items():
        _declare(state, record, name, artifact, event.contents.get(name), trusted=trusted)
    _load_policy(state, event, declaration.policy, trusted=trusted)
    state.yaml_sha256 = event.yaml_sha256


def _place(
    state: SessionState, record: ev.Record, node: str, hypothesis: Hypothesis, *, trusted: bool
) -> None:
    """Put a declaration in force; only a person's may have fewer rivals than the one before."""
    old = state.hypotheses.get(node)
    if old is not None and not trusted:
        rivals = tuple(dict.fromkeys([*hypothesis.rivals, *old.rivals]))
        hypothesis = replace(hypothesis, rivals=rivals)
    if trusted:
        state.persons.add(node)
    elif old is None or old.digest() != hypothesis.digest():
        state.persons.discard(node)
    state.hypotheses[node] = hypothesis
    state.declared_at[node] = record.seq


def _load_policy(
    state: SessionState, event: ev.DeclarationLoaded, wanted: Policy, *, trusted: bool
) -> None:
    """What asks for more holds at once; what asks for less waits for a person."""
    state.policy = wanted if trusted else state.policy.stricter(wanted)
    state.pending_policy = None if state.policy == wanted else (event.yaml_sha256, wanted)


def _attach(state: SessionState, record: ev.Record, event: ev.ArtifactAttached) -> None:
    trusted = not record.actor.is_agent
    _declare(state, record, event.name, event.artifact, event.content, trusted=trusted)


def _declare(
    state: SessionState,
    record: ev.Record,
    name: str,
    artifact: Artifact,
    content: Digest | None,
    *,
    trusted: bool,
) -> None:
    known = state.artifacts.get(name)
    if known is None:
        known = state.artifacts[name] = ArtifactState(artifact)
    elif known.artifact == artifact and not trusted:
        return
    known.artifact = artifact
    known.proposed_by = None if trusted else record.actor
    if trusted and content is not None:
        known.approved[content] = artifact


def _swapped(
    state: SessionState,
    record: ev.Record,
    swap_id: str,
    node: str,
    fix: str,
    swaps: tuple[FileSwap, ...],
    undoes: str,
) -> None:
    state.started.pop(swap_id, None)
    state.swaps[swap_id] = Swapped(
        swap_id, record.seq, record.time, node, record.actor, fix, swaps, undoes
    )
    if undoes in state.swaps:
        old = state.swaps[undoes]
        state.swaps[undoes] = Swapped(
            old.id, old.seq, old.time, old.node, old.actor, old.fix, old.swaps, old.undoes, swap_id
        )
