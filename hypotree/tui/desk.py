"""Desk: the session behind the screen. Every method blocks, so workers call it, one at a time."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from hypotree.tui.board import (
    Board,
    Shape,
    pending_plans,
    quick_standings,
    refusals,
    shape_of,
    worth_checking,
)
from hypotree.tui.content.artifacts import OnDisk, on_disk
from hypotree.tui.watcher import mark_of

if TYPE_CHECKING:
    from hypotree.model.declaration import Artifact
    from hypotree.model.event import Actor
    from hypotree.session import Session
    from hypotree.session.snapshot import NodeView

T = TypeVar("T")


class Desk:
    """One session for looking and one for doing: a long plan does not hold up what is shown."""

    def __init__(self, folder: Path, actor: Actor) -> None:
        self.folder = folder
        self.actor = actor
        self._looking: Session | None = None
        self._doing: Session | None = None
        self._yaml: tuple[int, ...] = ()
        self._look_lock, self._do_lock = RLock(), RLock()
        self.recovered: tuple[str, ...] = ()

    @property
    def journal(self) -> Path:
        """The file that other processes append to."""
        return self.folder / "journal.jsonl"

    def look(self, known: Board | None = None, *, check: bool = True) -> Board:
        """The board now. Without `check` no file is compared: that is the first paint."""
        with self._look_lock:
            session = self._opened()
            records = session.records()
            state = session.state()
            standings = quick_standings(state)
            only = worth_checking(standings) if check else ()
            view = session.snapshot(only)
            if known is None:
                gc.freeze()  # a hundred thousand records are kept for good: no collection walks them
            return Board(
                shape=shape_of(state, records[known.seq :] if known else (), _shape(known)),
                standings=standings,
                refused=refusals(state),
                view=view,
                views={node.id: node for node in view.nodes},
                records=records,
                seq=state.seq,
                fixed=frozenset(swap.node for swap in state.in_force()),
                pending=pending_plans(state, records),
            )

    def check(self, board: Board, nodes: Iterable[str]) -> Board:
        """The same board with these nodes compared with their files."""
        with self._look_lock:
            found: dict[str, NodeView] = dict(board.views)
            found |= {n.id: n for n in self._opened().snapshot(tuple(nodes)).nodes}
            return replace(board, views=found)

    def next_step(self) -> str:
        """What to do next, over the whole tree."""
        with self._look_lock:
            return self._opened().snapshot().next

    def path_of(self, artifact: Artifact) -> str:
        """Where an artifact is on this machine."""
        from hypotree.session.bindings import resolve_path

        return resolve_path(self.folder, artifact)

    def on_disk(self, board: Board) -> list[OnDisk]:
        """Every artifact with its size now, and as what it is read."""
        with self._look_lock:
            kinds = self._opened().kinds()
        found = [on_disk(a, self.path_of(a.artifact)) for a in board.view.artifacts]
        return [replace(one, kind=one.kind or kinds.get(one.view.name, "")) for one in found]

    def do(self, work: Callable[[Session], T]) -> T:
        """Let `work` have the session in which things are done."""
        with self._do_lock:
            if self._doing is None:
                self._doing = self._session()
            self._doing.state()  # probes run in processes of their own: take in what they sealed
            return work(self._doing)

    def _session(self) -> Session:
        from hypotree.session import Session  # what it takes to write is no part of the first paint

        return Session(self.folder, self.actor)

    def _opened(self) -> Session:
        """The session for looking; opened anew when somebody changed its session.yaml."""
        mark = mark_of(str(self.folder / "session.yaml"))
        if self._looking is None or mark != self._yaml:
            self._looking, self._yaml = self._session(), mark
            self.recovered = self._looking.recovered
        return self._looking


def _shape(known: Board | None) -> Shape | None:
    return known.shape if known else None
