"""Board: what the screen paints from. Made from the journal's fold, without a graph or a digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from hypotree.model.declaration import SYMPTOM, Hypothesis
from hypotree.model.event import DeclarationLoaded, HypothesisAdded, HypothesisEdited, Record
from hypotree.tree.standing import Standing, standing_of

if TYPE_CHECKING:
    from hypotree.session.snapshot import NodeView, SessionView, WriteView
    from hypotree.tree.replay import SessionState

#: So many nodes are checked against their files at every refresh; the others when they are seen.
CHECKED_AT_ONCE: Final = 200


@dataclass(frozen=True)
class Shape:
    """The tree: declarations, and the children of each node as declared."""

    hypotheses: Mapping[str, Hypothesis]
    children: Mapping[str, tuple[str, ...]]

    def path(self, node: str) -> tuple[str, ...]:
        """From the symptom down to `node`."""
        found = [node]
        while (above := self.hypotheses.get(found[-1])) is not None and len(found) < 1000:
            found.append(above.parent)
        return tuple(reversed(found))

    def below(self, node: str) -> tuple[str, ...]:
        """`node` and all under it, parents first."""
        found, stack = [], [node]
        while stack:
            at = stack.pop()
            found.append(at)
            stack += reversed(self.children.get(at, ()))
        return tuple(n for n in found if n != SYMPTOM)


@dataclass(frozen=True)
class Board:
    """One moment of a session. `standings` has what the journal says, `views` what was checked."""

    shape: Shape
    standings: Mapping[str, str]
    """Of nodes that were run or fixed; every other one is untested."""
    refused: Mapping[str, str]
    """The code of each node's newest refusal."""
    view: SessionView
    views: Mapping[str, NodeView] = field(default_factory=dict)
    records: Sequence[Record] = ()
    seq: int = 0
    fixed: frozenset[str] = frozenset()
    """Nodes of which a fix is in force."""
    pending: Mapping[str, str] = field(default_factory=dict)
    """Nodes for whose plan an agent was refused only for want of a person, and the agent."""

    def joined(self, other: Board) -> Board:
        """This board with what `other`, of the same moment, has checked besides."""
        return replace(self, views={**other.views, **self.views})

    def newest_write(self, *, undone: bool) -> WriteView | None:
        """The newest write in force, or, with `undone`, the newest undo in force."""
        by_id = {write.id: write for write in self.view.writes}
        found = [w for w in self.view.writes if not w.undone_by and _puts_back(w, by_id) == undone]
        return found[-1] if found else None

    def standing(self, node: str) -> str:
        """Where a node stands, as far as is known."""
        view = self.views.get(node)
        return view.standing if view else self.standings.get(node, str(Standing.UNTESTED))

    def is_checked(self, node: str) -> bool:
        """Whether the files were compared with what the node's evidence read."""
        return node in self.views or node not in self.standings


def _puts_back(write: WriteView, by_id: Mapping[str, WriteView]) -> bool:
    """Whether a write put old bytes back: an undo of an undo is a redo."""
    back = False
    while write.undoes in by_id:
        back, write = not back, by_id[write.undoes]
    return back


def shape_of(state: SessionState, new: Sequence[Record] = (), known: Shape | None = None) -> Shape:
    """The tree's shape; the known one if none of the new records could have changed it."""
    declaring = (DeclarationLoaded, HypothesisAdded, HypothesisEdited)
    if known is not None and not any(isinstance(record.event, declaring) for record in new):
        return known
    children: dict[str, list[str]] = {}
    for node, hypothesis in state.hypotheses.items():
        children.setdefault(hypothesis.parent, []).append(node)
    frozen = {node: tuple(below) for node, below in children.items()}
    return Shape(dict(state.hypotheses), frozen)


def quick_standings(state: SessionState) -> dict[str, str]:
    """Standings by the journal alone: fresh until a look at the files says otherwise."""
    found = {}
    for node, runs in state.evidence.items():
        hypothesis = state.hypotheses.get(node)
        if hypothesis is not None and runs:
            evidence = runs[-1].evidence
            is_fresh = evidence.hypothesis == hypothesis.digest()
            found[node] = str(standing_of(hypothesis.fault, evidence, is_fresh=is_fresh))
    for swap in state.in_force():
        if swap.node in state.hypotheses:
            found[swap.node] = str(Standing.FIXED_NOT_MEASURED)
    return found


def worth_checking(standings: Mapping[str, str], limit: int = CHECKED_AT_ONCE) -> tuple[str, ...]:
    """The nodes of which a refresh compares the files: all that were run, if these are few."""
    return tuple(standings)[:limit]


def refusals(state: SessionState) -> dict[str, str]:
    """The newest refusal of each node, unless something was written for it since."""
    newest = {node: found[-1] for node, found in state.refusals.items() if found}
    written = {swap.node: swap.seq for swap in state.in_force()}
    return {
        node: str(refusal.code)
        for node, (seq, _, refusal) in newest.items()
        if seq > written.get(node, 0)
    }


def pending_plans(state: SessionState, records: Sequence[Record]) -> dict[str, str]:
    """Nodes whose newest refusal lacks nothing but a person, with who asked."""
    found = {}
    for node, code in refusals(state).items():
        seq = state.refusals[node][-1][0]
        plan = state.plans.get(node)
        approved = plan is not None and plan[0] in state.approved_plans
        if code == "NEEDS_APPROVAL" and not approved and seq <= len(records):
            actor = records[seq - 1].actor
            found[node] = " ".join(part for part in (actor.kind, actor.name) if part)
    return found
