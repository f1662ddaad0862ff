"""All that the terminal UI shows, as text; and text that comes again when anything changes."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hypotree.cli.echo import out, paint
from hypotree.model.event import Actor
from hypotree.session import Session
from hypotree.tui.content.whole import session_lines
from hypotree.tui.desk import Desk
from hypotree.tui.lines import Line
from hypotree.tui.watcher import INTERVAL, mark_of, marks_below

_COLOURS: Final = {
    "strong": "bold", "head": "bold", "dim": "dim", "good": "green", "warn": "yellow",
    "bad": "red", "accent": "blue",
}  # fmt: skip


def print_everything(folder: Path, actor: Actor) -> None:
    """The symptom, the tree, every tab of every node, the journal."""
    desk = Desk(folder, actor)
    board = desk.look(check=False)
    board = desk.check(board, board.shape.hypotheses)
    for found in session_lines(board, desk.on_disk(board)):
        out(_painted(found))


def watch_session(session: Session, show_once: Callable[[], None], *, as_json: bool) -> None:
    """Show again whenever the journal, session.yaml or an artifact changed; ends at ctrl+c."""
    with contextlib.suppress(KeyboardInterrupt):
        seen = _marks(session)
        sys.stdout.flush()
        while True:
            time.sleep(INTERVAL)
            now = _marks(session)
            if now != seen:
                seen = now
                _again(show_once, as_json=as_json)


def _again(show_once: Callable[[], None], *, as_json: bool) -> None:
    if not as_json:
        out("\x1b[2J\x1b[H" if sys.stdout.isatty() else "\n" + "=" * 60)
    show_once()
    sys.stdout.flush()


def _marks(session: Session) -> list[tuple[int, ...]]:
    desk, folder = Desk(session.folder, Actor("cli")), session.folder
    marks = [mark_of(str(folder / "journal.jsonl"))]
    for known in session.state().artifacts.values():
        marks += marks_below(desk.path_of(known.artifact))
    return marks


def _painted(found: Line) -> str:
    return "".join(
        paint(span.text, _COLOURS[span.role]) if span.role else span.text for span in found.spans
    )
