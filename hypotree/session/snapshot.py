"""A frozen view of a session, for everything that shows one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from hypotree.errors import HypotreeError
from hypotree.model.declaration import SYMPTOM, Artifact, Hypothesis, Policy
from hypotree.model.evidence import Evidence, Finding
from hypotree.model.fix import FileSwap
from hypotree.model.refusal import Refusal
from hypotree.session.core import SessionCore
from hypotree.session.next_step import next_step
from hypotree.session.probing import changes_since, is_fresh
from hypotree.session.staging import fix_choice
from hypotree.tree.order import in_order
from hypotree.tree.replay import Sealed, SessionState, Swapped
from hypotree.tree.standing import Standing, same_observations, standing_after_fix, standing_of

#: A fix in force says nothing about a file that was changed, or found faulty, after it.
_FAULT_IS_BACK = frozenset({Standing.CONFIRMED, Standing.SUSPECTED, Standing.STALE})


class Measurement(msgspec.Struct, frozen=True):
    """The symptom, measured once."""

    seq: int
    time: str
    probe: str
    summary: str
    measures: dict[str, float]
    is_new: bool
    """False if its observations have the digests of an earlier measurement."""


class WriteView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A swap in force, undone, or one that undid another."""

    id: str
    node: str
    fix: str
    time: str
    actor: str
    files: tuple[FileSwap, ...]
    undoes: str = ""
    undone_by: str = ""
    is_undo: bool = False
    """Whether it put things back; a redo undoes an undo and is none."""


class RunView(msgspec.Struct, frozen=True):
    """One run of a node's probe, as its own fault came out."""

    seq: int
    time: str
    probe: str
    verdict: str
    authority: str
    why: str


class NodeView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One hypothesis as it stands now."""

    id: str
    depth: int
    hypothesis: Hypothesis
    standing: str
    why: str
    fix: str
    changed: tuple[str, ...] = ()
    evidence: Evidence | None = None
    evidence_seq: int = 0
    history: tuple[RunView, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def finding(self) -> Finding | None:
        """The finding on its own fault."""
        return self.evidence.finding(self.hypothesis.fault) if self.evidence else None


class ArtifactView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One artifact as declared, and whether a person stands behind it."""

    name: str
    artifact: Artifact
    proposed_by: str = ""


class SessionView(msgspec.Struct, frozen=True):
    """Everything that a session shows."""

    folder: str
    symptom: str
    measurements: tuple[Measurement, ...]
    nodes: tuple[NodeView, ...]
    artifacts: tuple[ArtifactView, ...]
    writes: tuple[WriteView, ...]
    policy: Policy
    journal_events: int
    journal_head: str
    journal_problem: str
    next: str
    pending_policy: Policy | None = None
    """What a changed session.yaml asks for, less than what is in force: it waits for a person."""


def take_snapshot(core: SessionCore, only: Iterable[str] | None = None) -> SessionView:
    """The session as it is now; digests of what evidence read are compared again.

    With `only`, just these nodes and no word on what is next: a screen asks for what it shows.
    """
    core.refresh()
    state = core.state
    places = in_order(state.hypotheses) if only is None else _depths(state, only)
    nodes = tuple(_node(core, n, d) for n, d in places)
    view = SessionView(
        folder=str(core.shown_as),
        symptom=state.symptom.what,
        measurements=_measurements(state.evidence.get(SYMPTOM, [])),
        nodes=nodes,
        artifacts=tuple(
            ArtifactView(n, a.artifact, a.proposed_by.kind if a.proposed_by else "")
            for n, a in state.artifacts.items()
        ),
        writes=tuple(_write(swap, state.puts_back(swap)) for swap in state.swaps.values()),
        policy=state.policy,
        journal_events=state.seq,
        journal_head=str(core.journal.head),
        journal_problem=core.journal.problem,
        next="",
        pending_policy=state.pending_policy[1] if state.pending_policy else None,
    )
    step = next_step(core.shown_as, state, nodes) if only is None else ""
    return msgspec.structs.replace(view, next=step)


def _depths(state: SessionState, nodes: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Each of these nodes that is there, with its depth; no graph is built for it."""
    for node in nodes:
        depth, above = 0, state.hypotheses.get(node)
        while above is not None and above.parent in state.hypotheses:
            depth, above = depth + 1, state.hypotheses[above.parent]
        if node in state.hypotheses:
            yield node, depth


def _node(core: SessionCore, node: str, depth: int) -> NodeView:
    hypothesis = core.hypothesis(node)
    latest = core.state.latest(node)
    standing = node_standing(core, node)
    finding = latest.evidence.finding(hypothesis.fault) if latest else None
    stale = standing is Standing.STALE and latest is not None
    return NodeView(
        id=node,
        depth=depth,
        hypothesis=hypothesis,
        standing=str(standing),
        why=finding.why if finding else "",
        fix=_fix_name(hypothesis),
        changed=_changed(core, node, latest) if stale else (),
        evidence=latest.evidence if latest else None,
        evidence_seq=latest.seq if latest else 0,
        history=_history(core, node, hypothesis.fault),
        refusals=tuple(refusal for _, _, refusal in core.state.refusals.get(node, [])),
        notes=tuple(text for _, _, text in core.state.notes.get(node, [])),
    )


def _fix_name(hypothesis: Hypothesis) -> str:
    try:
        return fix_choice(hypothesis).name
    except HypotreeError:
        return "advice"


def _history(core: SessionCore, node: str, fault: str) -> tuple[RunView, ...]:
    runs = []
    for run in core.state.evidence.get(node, []):
        finding = run.evidence.finding(fault)
        if finding is not None:
            runs.append(
                RunView(
                    run.seq,
                    run.time,
                    run.evidence.probe,
                    finding.verdict,
                    finding.authority,
                    finding.why,
                )
            )
    return tuple(runs)


def _changed(core: SessionCore, node: str, latest: Sealed | None) -> tuple[str, ...]:
    return changes_since(core, node, latest.evidence) if latest else ()


def node_standing(core: SessionCore, node: str) -> Standing:
    """Where a node stands now, derived from the journal and the files as they are."""
    latest, applied = core.state.latest(node), core.state.applied(node)
    if applied is not None and (latest is None or latest.seq < applied.seq):
        return _after_fix(core, applied)
    evidence = latest.evidence if latest else None
    fresh = evidence is not None and is_fresh(core, node, evidence)
    plain = standing_of(core.hypothesis(node).fault, evidence, is_fresh=fresh)
    if applied is not None and plain not in _FAULT_IS_BACK:
        return _after_fix(core, applied)
    return plain


def _after_fix(core: SessionCore, applied: Swapped) -> Standing:
    """By the first way of measuring that really measured again."""
    runs = core.state.evidence.get(SYMPTOM, [])
    standing = Standing.FIXED_NOT_MEASURED
    for probe in dict.fromkeys(run.evidence.probe for run in runs):
        of_probe = [run for run in runs if run.evidence.probe == probe]
        before = [run.evidence for run in of_probe if run.seq < applied.seq]
        after = [run.evidence for run in of_probe if run.seq > applied.seq]
        found = standing_after_fix(before[-1] if before else None, after[-1] if after else None)
        if found is not Standing.FIXED_NOT_MEASURED:
            standing = found
    return standing


def _measurements(runs: list[Sealed]) -> tuple[Measurement, ...]:
    found: list[Measurement] = []
    for index, run in enumerate(runs):
        evidence = run.evidence
        seen = any(
            same_observations(evidence, earlier.evidence)
            and earlier.evidence.probe == evidence.probe
            for earlier in runs[:index]
        )
        found.append(
            Measurement(
                run.seq, run.time, evidence.probe, evidence.summary, evidence.measures, not seen
            )
        )
    return tuple(found)


def _write(swap: Swapped, is_undo: bool) -> WriteView:  # noqa: FBT001
    actor = " ".join(part for part in (swap.actor.kind, swap.actor.name) if part)
    return WriteView(
        swap.id, swap.node, swap.fix, swap.time, actor, swap.swaps, swap.undoes, swap.undone_by,
        is_undo,
    )  # fmt: skip
