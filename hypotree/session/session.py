"""Session: open a folder and do what a user can do. Nothing here takes or sets a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hypotree.digest import Digest
from hypotree.journal.audit import Audit
from hypotree.model.declaration import Artifact, Hypothesis
from hypotree.model.event import Actor, Record
from hypotree.model.evidence import Evidence
from hypotree.model.refusal import Refusal
from hypotree.probe.api import Progress
from hypotree.session import editing, fixing, probing
from hypotree.session.asking import Answer, ask
from hypotree.session.core import SessionCore
from hypotree.session.fixing import Agree, Applied
from hypotree.session.opening import load_declaration
from hypotree.session.recovery import recover
from hypotree.session.snapshot import SessionView, take_snapshot
from hypotree.tree.replay import SessionState


class Session:
    """One session, for one actor. Several processes may hold the same folder open."""

    def __init__(self, folder: Path, actor: Actor | None = None) -> None:
        self._core = SessionCore(folder, actor or Actor("cli"))
        load_declaration(self._core)
        self.recovered: tuple[str, ...] = recover(self._core)

    @property
    def folder(self) -> Path:
        """The session's folder."""
        return self._core.folder

    # -- looking ---------------------------------------------------------------

    def snapshot(self, only: Iterable[str] | None = None) -> SessionView:
        """Everything as it stands now; with `only`, of the nodes just these."""
        return take_snapshot(self._core, only)

    def state(self) -> SessionState:
        """The fold of the journal, with what others wrote; to look at, and never to change."""
        self._core.refresh()
        return self._core.state

    def kinds(self) -> dict[str, str]:
        """As what each artifact is read: declared, or as the first probe that binds it takes it."""
        return {name: self._core.kind_of(name) for name in self._core.state.artifacts}

    def hypothesis(self, node: str) -> Hypothesis:
        """A node's declaration."""
        return self._core.hypothesis(node)

    def records(self) -> Sequence[Record]:
        """The journal."""
        self._core.refresh()
        return self._core.journal.records

    def verify(self) -> Audit:
        """Check the whole journal from its first byte."""
        return self._core.journal.verify()

    def undo_sizes(self) -> dict[str, int]:
        """Undo packs on disk with their sizes in bytes."""
        return {str(digest): size for digest, size in self._core.undo.sizes().items()}

    # -- declaring -------------------------------------------------------------

    def add(self, node: str, hypothesis: Hypothesis) -> None:
        """Add a hypothesis."""
        editing.add_hypothesis(self._core, node, hypothesis)

    def edit(self, node: str, hypothesis: Hypothesis) -> None:
        """Declare a hypothesis anew."""
        editing.edit_hypothesis(self._core, node, hypothesis)

    def attach(self, name: str, artifact: Artifact) -> None:
        """Add an artifact, or point a name at another one."""
        editing.attach_artifact(self._core, name, artifact)

    def note(self, node: str, text: str) -> None:
        """Leave a note."""
        editing.add_note(self._core, node, text)

    # -- approving (needs a person: hypotree.session.approval) ------------------

    def approve_artifact(self, name: str, approver: Actor, seen: Artifact | None = None) -> str:
        """Take an artifact as it is now for a truth; returns its digest."""
        return editing.approve_artifact(self._core, name, approver, seen)

    def approve_policy(self, approver: Actor) -> None:
        """Take over a changed session.yaml's policy."""
        editing.approve_policy(self._core, approver)

    def approve_plan(self, node: str, approver: Actor, seen: Digest | None = None) -> str:
        """Agree to the plan last made for a node, the one that was seen; returns its digest."""
        return editing.approve_plan(self._core, node, approver, seen)

    # -- doing -----------------------------------------------------------------

    def run(self, node: str, progress: Progress | None = None) -> Evidence:
        """Run a node's probe."""
        return probing.run_node(self._core, node, progress)

    def measure(self, progress: Progress | None = None) -> tuple[Evidence, ...]:
        """Measure the symptom."""
        return probing.measure_symptom(self._core, progress)

    def plan(self, node: str) -> Answer:
        """What a node's fix would do, and whether the gate would let it."""
        return ask(self._core, node)

    def apply(
        self,
        node: str,
        agree: Agree | None = None,
        *,
        seen: Digest | None = None,
        in_place: bool = False,
    ) -> Applied | Refusal:
        """Write a node's fix if the gate admits it; `agree` asks the person, where one is needed.

        With `seen`, the digest of a plan that was shown, no other plan is written.
        With `in_place`, changed ranges go into the weights' own file: fast for huge
        files, and a reader may see a mix while it runs.
        """
        return fixing.apply_fix(self._core, node, agree, seen=seen, in_place=in_place)

    def undo(self, swap_id: str = "") -> str:
        """Put back what a swap did."""
        return fixing.undo_swap(self._core, swap_id)

    def redo(self) -> str:
        """Do again what was undone last."""
        return fixing.redo_swap(self._core)
