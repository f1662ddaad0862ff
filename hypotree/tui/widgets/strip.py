"""SymptomStrip: the symptom and how it moved, always in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypotree.tui.content.tree import strip_lines
from hypotree.tui.lines import Line, line, said
from hypotree.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from hypotree.tui.board import Board


class SymptomStrip(LineList, can_focus=False):
    """Two or three rows at the top."""

    DEFAULT_CSS = """
    SymptomStrip { height: auto; max-height: 4; background: $panel; }
    """

    def __init__(self, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self._lines: list[Line] = [line(said("symptom: …", "head"))]
        self.cursor = -1

    def count(self) -> int:
        """One row a way of measuring, and the symptom."""
        return len(self._lines)

    def line_at(self, index: int) -> Line:
        """One row."""
        return self._lines[index]

    def take(self, board: Board, crumbs: str) -> None:
        """Show a moment, and where one is in the tree."""
        self._lines = [*strip_lines(board)[:3], line(said(crumbs, "dim"))]
        self.styles.height = len(self._lines)
        self.rows_changed()

    def _clamped(self, index: int) -> int:
        """No row is ever under a cursor."""
        return min(index, -1)
