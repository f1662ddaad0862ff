"""Inspector: the tensors of a checkpoint, or of two; bytes are read only when asked for."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Footer, Input, Static

from hypotree.artifact.plain import plain
from hypotree.tui.inspecting.compare import Pair, compare, with_bytes
from hypotree.tui.inspecting.numbers import head, is_numeric
from hypotree.tui.inspecting.source import Source, TensorRow, open_source
from hypotree.tui.inspecting.statistics import Statistics, measure
from hypotree.tui.inspecting.text import (
    overview_lines,
    pair_line,
    statistics_lines,
    tensor_line,
    tensor_lines,
    values_lines,
)
from hypotree.tui.lines import BLANK, Line, line, said
from hypotree.tui.memory import state_home
from hypotree.tui.outside import Copied, copy
from hypotree.tui.screens.asking import Asking
from hypotree.tui.screens.form import Field, Values
from hypotree.tui.widgets.line_list import LineList
from hypotree.tui.widgets.page import Page

_ROW = 256


class TensorList(LineList):
    """Tensors, or pairs of them, narrowed by words; a line is made when it is seen."""

    def __init__(self) -> None:
        super().__init__(id="tensors")
        self.all: tuple[TensorRow | Pair, ...] = ()
        self.shown: tuple[TensorRow | Pair, ...] = ()
        self.is_read = False

    def count(self) -> int:
        """Rows after narrowing, or one that says that there is none yet."""
        return max(len(self.shown), 1)

    def line_at(self, index: int) -> Line:
        """One tensor."""
        if index >= len(self.shown):
            return line(said("no tensor" if self.is_read else "reading headers …", "dim"))
        row = self.shown[index]
        return pair_line(row) if isinstance(row, Pair) else tensor_line(row)

    def take(self, rows: Iterable[TensorRow | Pair], query: str = "") -> None:
        """Show these rows, or those that hold every word."""
        self.all, self.is_read = tuple(rows), True
        self.narrow(query)

    def narrow(self, query: str) -> None:
        """Only the rows that hold every word of the query."""
        words = query.casefold().split()
        self.shown = tuple(r for r in self.all if all(w in r.name.casefold() for w in words))
        self.rows_changed()
        self.go(self.cursor)


class Inspector(Asking):
    """Tensors left, what is known of one right."""

    DEFAULT_CSS = """
    Inspector #tensors { width: 1fr; border-right: vkey $panel; }
    Inspector #about { width: 1fr; }
    Inspector #title { height: 1; background: $panel; text-style: bold; }
    Inspector #narrow { height: 1; background: $boost; display: none; }
    Inspector.-narrow Horizontal { layout: vertical; }
    Inspector.-narrow #tensors { width: 100%; height: 1fr; border-right: none; }
    Inspector.-narrow #about { width: 100%; height: 1fr; }
    """
    AUTO_FOCUS = "#tensors"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "statistics", "Statistics"),
        Binding("v", "values", "Values"),
        Binding("right_square_bracket", "more_values", "Next values", show=False),
        Binding("c", "overview", "Overview"),
        Binding("d", "compare", "Compare with"),
        Binding("b", "bytes", "Compare bytes"),
        Binding("slash", "search", "Search"),
        Binding("x", "stop", "Stop", show=False),
        Binding("y", "copy", "Copy command", show=False),
        Binding("q,escape", "leave", "Close"),
    ]

    def __init__(self, path: str, other: str = "") -> None:
        super().__init__()
        self.path, self.other = path, other
        self.left: Source | None = None
        self.right: Source | None = None
        self.known: dict[str, Statistics] = {}
        self.tensors, self.about = TensorList(), Page("about")
        self._stop = Event()
        self._start = 0

    def compose(self) -> ComposeResult:
        """A title, the list, the page."""
        yield Static("", id="title", markup=False)
        with Horizontal():
            yield self.tensors
            yield self.about
        yield Input(id="narrow", placeholder="words of a tensor's name", compact=True)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Read the headers on a worker."""
        self.query_one("#title", Static).update(plain(f"{self.path}  {self.other}", 300))
        self._open()

    def on_unmount(self) -> None:
        """End what is being read."""
        self._stop.set()

    def _open(self) -> None:
        path, other = self.path, self.other
        self.work(lambda: (open_source(path), open_source(other) if other else None), self._opened)

    def _opened(self, sources: tuple[Source, Source | None]) -> None:
        self.left, self.right = sources
        rows = compare(self.left, self.right) if self.right else self.left.tensors
        self.tensors.take(rows)
        self.action_overview()

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Another tensor."""
        if event.list is self.tensors:
            self._start = 0
            self._show()

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Enter asks for statistics."""
        if event.list is self.tensors:
            self.action_statistics()

    def row(self) -> TensorRow | None:
        """The tensor under the cursor, of the left checkpoint if it has it."""
        shown = self.tensors.shown
        name = shown[self.tensors.cursor].name if shown else ""
        for source in (self.left, self.right):
            found = source.by_name.get(name) if source else None
            if found is not None:
                return found
        return None

    def _source(self, row: TensorRow) -> Source:
        assert self.left is not None
        is_left = self.left.by_name.get(row.name) == row
        return self.left if is_left or self.right is None else self.right

    def _show(self, more: Iterable[Line] = ()) -> None:
        row = self.row()
        if row is None:
            return
        lines = [*tensor_lines(row), BLANK]
        if row.name in self.known:
            lines += [*statistics_lines(self.known[row.name]), BLANK]
        else:
            lines.append(line(said("s reads it for statistics, v shows values", "dim")))
        self.about.show([*lines, *more])

    def action_overview(self) -> None:
        """The whole checkpoint: files, dtypes, metadata, config."""
        if self.left is not None:
            both = [*overview_lines(self.left)]
            both += [BLANK, *overview_lines(self.right)] if self.right else []
            self.about.show(both)

    def action_statistics(self) -> None:
        """Read the tensor under the cursor, on a worker; x stops."""
        row = self.row()
        if row is None or row.name in self.known:
            return
        if not is_numeric(row.dtype):
            self.tell(f"no statistics for {row.dtype}", "warning")
            return
        self._stop.clear()
        file = self._source(row).file_of(row)

        def measured(found: Statistics) -> None:
            if found.is_whole:
                self.known[row.name] = found
            self._show([] if found.is_whole else statistics_lines(found))

        self.work(lambda: measure(file, row, self._advance(row), self._stop.is_set), measured)

    def _advance(self, row: TensorRow) -> Callable[[int, int], None]:
        def told(done: int, total: int) -> None:
            share = f"{100 * done // max(total, 1)} % of {plain(row.name, 100)}; x stops"
            self.arrive(self.query_one("#title", Static).update, share)

        return told

    def action_stop(self) -> None:
        """Stop reading."""
        self._stop.set()

    def action_values(self) -> None:
        """The first values, as they are stored."""
        row = self.row()
        if row is None:
            return
        if not is_numeric(row.dtype):
            self.tell(f"no values for {row.dtype}", "warning")
            return
        file, start = self._source(row).file_of(row), self._start
        self.work(lambda: list(values_lines(head(file, row, start, _ROW), start)), self._show)

    def action_more_values(self) -> None:
        """The values after those."""
        self._start += _ROW
        self.action_values()

    def action_compare(self) -> None:
        """Beside another checkpoint."""
        self.form("other", "Compare with", [Field("path", "checkpoint", self.other)], self._compare)

    def _compare(self, values: Values) -> None:
        self.other = str(Path(values["path"].strip()).expanduser())
        self._open()

    def action_bytes(self) -> None:
        """Whether the bytes of this tensor are the same in both."""
        left, right, index = self.left, self.right, self.tensors.cursor
        pair = self.tensors.shown[index] if self.tensors.shown else None
        if left is None or right is None or not isinstance(pair, Pair):
            self.tell("compare with another checkpoint first: d", "warning")
            return

        def compared(found: Pair) -> None:
            rows = tuple(found if row.name == found.name else row for row in self.tensors.all)
            self.tensors.take(rows, self.query_one("#narrow", Input).value)

        self.work(lambda: with_bytes(pair, left, right), compared)

    def action_search(self) -> None:
        """Narrow the list."""
        box = self.query_one("#narrow", Input)
        box.display = True
        box.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """As one types."""
        self.tensors.narrow(event.value)

    def on_input_submitted(self) -> None:
        """To the list."""
        self.tensors.focus()

    def action_copy(self) -> None:
        """Copy the command that shows the same."""
        row, driver = self.row(), self.app._driver  # noqa: SLF001 - see Bench.write_to_terminal
        words = ["hypotree", "inspect", self.path, *([self.other] if self.other else [])]
        text = shlex.join([*words, *(["--tensor", row.name, "--text"] if row else [])])

        def arrived(copied: Copied) -> None:
            self.tell(f"{text}\n{copied.said}")

        if driver is not None:
            self.work(lambda: copy(text, driver.write, state_home(), os.environ), arrived)

    def action_leave(self) -> None:
        """Out of the search line; else close."""
        if self.query_one("#narrow", Input).has_focus:
            self.tensors.focus()
        elif len(self.app.screen_stack) > 2:
            self.dismiss(None)
        else:
            self.app.exit()


def is_checkpoint(path: str) -> bool:
    """Whether the inspector can open it."""
    return Path(path).is_dir() or path.endswith(".safetensors")
