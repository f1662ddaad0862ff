"""Page: lines wrapped to the width, with a cursor that can rest on places and keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hypotree.tui.widgets.line_list import GUTTER, LineList
from hypotree.tui.wrapping import wrap

if TYPE_CHECKING:
    from hypotree.tui.lines import Line


class Page(LineList):
    """A document of lines; it is wrapped anew when the width changes."""

    def __init__(self, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self._lines: list[Line] = []
        self._rows: list[Line] = []
        self._width = 0

    def count(self) -> int:
        """Rows after wrapping."""
        return len(self._rows)

    def line_at(self, index: int) -> Line:
        """One row."""
        return self._rows[index]

    def show(self, lines: Iterable[Line], *, keep_place: bool = False) -> None:
        """Show other lines, from the top unless they are the same page a moment later."""
        self._lines = list(lines)
        self._wrap()
        self.rows_changed()
        if not keep_place:
            self.go(0)

    def text(self) -> str:
        """All of it, for tests and for copying."""
        return "\n".join(found.text for found in self._lines)

    def on_resize(self) -> None:
        """Wrap anew if the width is another."""
        if self.scrollable_content_region.width != self._width:
            self._wrap()
        super().on_resize()

    def _wrap(self) -> None:
        self._width = self.scrollable_content_region.width
        width = max(self._width - GUTTER, 8)
        self._rows = [row for found in self._lines for row in wrap(found, width)]
