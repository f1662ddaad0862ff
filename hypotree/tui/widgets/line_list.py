"""LineList: a list of any length that renders only the rows to be seen."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hypotree.tui.lines import BLANK, Line

GUTTER = 1


class LineList(ScrollView, can_focus=True):
    """Subclasses say how many rows there are and what is in each; the base moves and paints."""

    DEFAULT_CSS = """
    LineList { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    LineList > .line--strong { text-style: bold; }
    LineList > .line--head { text-style: bold underline; }
    LineList > .line--dim { color: $text-muted; }
    LineList > .line--good { color: $text-success; }
    LineList > .line--warn { color: $text-warning; }
    LineList > .line--bad { color: $text-error; text-style: bold; }
    LineList > .line--accent { color: $text-accent; }
    LineList > .line--cursor { background: $block-cursor-blurred-background; }
    LineList:focus > .line--cursor { background: $primary-muted; text-style: bold; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line--strong", "line--head", "line--dim", "line--good", "line--warn", "line--bad",
        "line--accent", "line--cursor",
    }  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
        Binding("home,g", "edge(0)", "First", show=False),
        Binding("end,G", "edge(1)", "Last", show=False),
        Binding("enter", "choose", "Choose", show=False),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    class Moved(Message):
        """The cursor came to another row."""

        def __init__(self, sender: LineList) -> None:
            self.list = sender
            super().__init__()

        @property
        def control(self) -> LineList:
            """The list it came from."""
            return self.list

    class Chosen(Moved):
        """A row was chosen, by enter or by a double click."""

    # -- for subclasses ----------------------------------------------------------

    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def line_at(self, index: int) -> Line:
        """What is in a row."""
        raise NotImplementedError

    def rows_changed(self) -> None:
        """Rows are more, fewer or others: only sizes are taken anew, no row is made."""
        self.virtual_size = Size(self.scrollable_content_region.width, self.count())
        self.cursor = self._clamped(self.cursor)
        self.refresh()

    # -- painting ----------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        index, width = self.scroll_offset.y + y, self.scrollable_content_region.width
        base = self.rich_style
        if index >= self.count():
            return Strip.blank(width, base)
        here = index == self.cursor
        if here:
            base += self.get_component_rich_style("line--cursor", partial=True)
        segments = [Segment(">" if here and self.has_focus else " ", base)]
        segments += [
            Segment(span.text, base + self._look(span.role) if span.role else base)
            for span in self.line_at(index).spans
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _look(self, role: str) -> Style:
        return self.get_component_rich_style(f"line--{role}", partial=True)

    # -- moving ------------------------------------------------------------------

    def current(self) -> Line:
        """The line under the cursor."""
        return self.line_at(self.cursor) if self.count() else BLANK

    def go(self, index: int) -> None:
        """Put the cursor on a row and see to it that the row is seen."""
        self.cursor = self._clamped(index)
        self.show_cursor()

    def show_cursor(self) -> None:
        """Scroll no more than is needed."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif height and self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint the two rows that differ, and tell."""
        self.refresh_lines(old)
        self.refresh_lines(new)
        if self.is_mounted and old != new:
            self.post_message(self.Moved(self))

    def action_move(self, by: int) -> None:
        """Up or down."""
        self.go(self.cursor + by)

    def action_page(self, by: float) -> None:
        """Up or down by (a part of) what is seen."""
        self.go(self.cursor + int(by * max(self.scrollable_content_region.height - 1, 1)))

    def action_edge(self, end: int) -> None:
        """To the first or the last row."""
        self.go(self.count() - 1 if end else 0)

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.post_message(self.Chosen(self))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a double click chooses."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = offset.y + self.scroll_offset.y
        if index < self.count():
            self.go(index)
            self.clicked(offset.x - GUTTER)
            if event.chain == 2:
                self.action_choose()

    def clicked(self, x: int) -> None:
        """A click on the cursor's row at column `x`."""

    def on_resize(self) -> None:
        """Other rows are seen."""
        self.rows_changed()
        self.show_cursor()

    def on_focus(self) -> None:
        """The cursor looks different."""
        self.refresh_lines(self.cursor)

    def on_blur(self) -> None:
        """The cursor looks different."""
        self.refresh_lines(self.cursor)

    def _clamped(self, index: int) -> int:
        return max(min(index, self.count() - 1), 0)
