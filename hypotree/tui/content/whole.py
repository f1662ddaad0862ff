"""The whole screen as text, every node open and every tab after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hypotree.model.declaration import SYMPTOM
from hypotree.tui.content.detail import TABS, detail_lines
from hypotree.tui.content.records import record_line
from hypotree.tui.content.tree import strip_lines, tree_lines
from hypotree.tui.lines import BLANK, Line, heading

if TYPE_CHECKING:
    from hypotree.tui.board import Board
    from hypotree.tui.content.artifacts import OnDisk

#: Tabs that say the same for every node.
_SHARED = ("artifacts", "trace")


def session_lines(board: Board, found: list[OnDisk]) -> Iterator[Line]:
    """What the terminal UI shows, in the order in which one would read it."""
    yield from strip_lines(board)
    yield BLANK
    yield heading("Tree")
    yield from tree_lines(board)
    for node in (SYMPTOM, *board.shape.below(SYMPTOM)):
        yield BLANK
        yield heading(f"{node}: evidence, fix, notes")
        for tab in TABS:
            if tab not in _SHARED:
                yield from detail_lines(board, node, tab, None, found)
    for tab in _SHARED:
        yield BLANK
        yield from detail_lines(board, SYMPTOM, tab, None, found)
    yield BLANK
    yield heading("Journal")
    for record in board.records[: board.seq]:
        yield record_line(record)
