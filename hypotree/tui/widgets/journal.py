"""JournalView: who did what, the newest below; it holds the records and makes lines of those seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hypotree.tui.content.records import record_line
from hypotree.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from hypotree.model.event import Record
    from hypotree.tui.lines import Line


class JournalView(LineList):
    """The journal; it follows its end while the cursor is there."""

    def __init__(self, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self.records: Sequence[Record] = ()
        self._count = 0

    def count(self) -> int:
        """Events that this screen knows of; the list itself may have grown meanwhile."""
        return self._count

    def line_at(self, index: int) -> Line:
        """One event."""
        return record_line(self.records[index])

    def take(self, records: Sequence[Record], count: int) -> None:
        """Show more events."""
        follows = self.cursor >= self._count - 1
        self.records, self._count = records, count
        self.rows_changed()
        if follows:
            self.go(count - 1)

    def on_resize(self) -> None:
        """The end stays in sight."""
        super().on_resize()
        self.show_cursor()
