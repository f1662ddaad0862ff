"""What all parts of a session share: its folder, journal, folded state, and who acts."""

from __future__ import annotations

from pathlib import Path

from hypotree.artifact.base import Artifact as Reader
from hypotree.artifact.kinds import open_artifact
from hypotree.digest import ABSENT, Digest
from hypotree.errors import HypotreeError, UnknownNameError
from hypotree.fix.undo import UndoStore
from hypotree.journal.store import Journal
from hypotree.model.declaration import Artifact, Hypothesis
from hypotree.model.event import Actor, Event, Record
from hypotree.probe.registry import probe_class
from hypotree.session.bindings import resolve_path
from hypotree.tree.replay import SessionState, fold

JOURNAL_NAME = "journal.jsonl"


class SessionCore:
    """One opened session; parts of `hypotree.session` take it as their first argument."""

    def __init__(self, folder: Path, actor: Actor) -> None:
        self.folder = folder.absolute()
        self.shown_as = folder
        """The folder as the user named it, for commands to paste."""
        self.actor = actor
        self.journal = Journal(self.folder / JOURNAL_NAME)
        self.undo = UndoStore(self.folder / "undo")
        self.state: SessionState = fold(self.journal.records)

    def refresh(self) -> None:
        """Take in what other processes wrote."""
        self.journal.refresh()
        fold(self.journal.records[self.state.seq :], self.state)

    def append(self, event: Event, actor: Actor | None = None) -> Record:
        """Journal one event and fold it in."""
        record = self.journal.append(event, actor or self.actor)
        self.refresh()
        return record

    def hypothesis(self, node: str) -> Hypothesis:
        """The declaration of a node in force now."""
        found = self.state.hypotheses.get(node)
        if found is None:
            known = ", ".join(self.state.hypotheses) or "none yet"
            raise UnknownNameError(
                f"finding {node!r}", "no such hypothesis in this session", f"there are {known}"
            )
        return found

    def artifacts(self) -> dict[str, Artifact]:
        """Every artifact as declared now."""
        return {name: known.artifact for name, known in self.state.artifacts.items()}

    def content_now(self, name: str) -> Digest:
        """The digest of everything in an artifact; `ABSENT` if it cannot be read."""
        return content_digest(self.folder, self.state.artifacts[name].artifact, self.kind_of(name))

    def reader(self, name: str) -> Reader:
        """A fresh reader over an artifact as it is declared now."""
        artifact = self.state.artifacts[name].artifact
        return open_artifact(self.kind_of(name) or "log", self.path_of(artifact))

    def path_of(self, artifact: Artifact) -> str:
        """Where an artifact is."""
        return resolve_path(self.folder, artifact)

    def kind_of(self, name: str) -> str:
        """As what an artifact is read: declared, or as the first probe that binds it takes it."""
        artifact = self.state.artifacts[name].artifact
        return artifact.kind or bound_kind(name, self.state)


def bound_kind(name: str, state: SessionState) -> str:
    """The kind as which the first binding of artifact `name` takes it, "" if nothing binds it."""
    users = [(h.probe, h.inputs) for h in state.hypotheses.values()]
    users += [(m.probe, m.inputs) for m in state.symptom.measures()]
    for probe, inputs in users:
        for input_name, binding in inputs.items():
            if binding.artifact == name and (kind := _kind_taken(probe, input_name)):
                return kind
    return ""


def _kind_taken(probe: str, input_name: str) -> str:
    """ "" also for a probe that cannot be loaded here: that costs only its own nodes."""
    try:
        takes = probe_class(probe).takes
    except HypotreeError:
        return ""
    return next((taken.kind for taken in takes if taken.name == input_name), "")


def content_digest(folder: Path, artifact: Artifact, kind: str) -> Digest:
    """The digest of everything in an artifact; `ABSENT` if it cannot be read."""
    try:
        reader = open_artifact(kind or "log", resolve_path(folder, artifact))
        return reader.content_digest()
    except (HypotreeError, OSError):
        return ABSENT
