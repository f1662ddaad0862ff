"""Undo and redo: new journal entries, each asked for by the name of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hypotree.session import Session
from hypotree.tui.lines import line, said

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


def undo(bench: Bench) -> None:
    """Put back what the latest write did."""
    write = bench.newest_write(undone=False)
    if write is not None:
        name = Path(write.files[0].path).name
        say = line(said(f"{write.id}: {write.fix} for {write.node} is put back. It can be redone."))
        bench.confirm(f"Undo {write.id}?", name, (say,), lambda: do(bench, _undo(write.id)))


def redo(bench: Bench) -> None:
    """Do again what was undone last."""
    write = bench.newest_write(undone=True)
    if write is not None:
        name = Path(write.files[0].path).name
        say = line(said(f"{write.fix} for {write.node} is written again."))
        bench.confirm(f"Redo {write.fix} for {write.node}?", name, (say,), lambda: do(bench, _redo))


def _undo(swap: str) -> Callable[[Session], str]:
    return lambda session: f"put back, as {session.undo(swap)}"


def _redo(session: Session) -> str:
    return f"done again, as {session.redo()}"


def do(bench: Bench, what: Callable[[Session], str]) -> None:
    """Do one thing with the session, tell what came of it, look again."""

    def told(text: str) -> None:
        bench.tell(text)
        bench.look()

    bench.work(lambda: bench.desk.do(what), told)
