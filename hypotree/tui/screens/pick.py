"""Pick: one of a list, narrowed by typing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from hypotree.artifact.plain import plain
from hypotree.tui.lines import Line, Role, line, said
from hypotree.tui.widgets.line_list import LineList


@dataclass(frozen=True)
class Choice:
    """One thing that can be picked; `why_not` says why it cannot be."""

    value: str
    text: str
    why_not: str = ""


class _Choices(LineList, can_focus=False):
    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(id="choices")
        self.all = self.shown = list(choices)

    def count(self) -> int:
        return len(self.shown)

    def line_at(self, index: int) -> Line:
        choice = self.shown[index]
        mark = "> " if index == self.cursor else "  "
        role: Role = "dim" if choice.why_not else ""
        tail = f"  ({choice.why_not})" if choice.why_not else ""
        return line(said(mark, "accent"), said(choice.text, role, 300), said(tail, "dim", 200))

    def narrow(self, query: str) -> None:
        words = query.casefold().split()
        self.shown = [c for c in self.all if all(w in c.text.casefold() for w in words)]
        self.rows_changed()
        self.go(0)


class Pick(ModalScreen[str | None]):
    """Returns the chosen value, or None."""

    DEFAULT_CSS = """
    Pick { align: center middle; }
    Pick > Vertical { width: 90%; max-width: 110; height: 80%; border: round $primary;
        background: $surface; }
    Pick Input { height: 1; background: $boost; }
    Pick .title { text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave"),
        Binding("up,ctrl+p", "move(-1)", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
    ]

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title = title
        self._choices = _Choices(choices)

    def compose(self) -> ComposeResult:
        """A line to type in above the list."""
        with Vertical():
            yield Static(plain(self._title, 200), classes="title", markup=False)
            yield Input(placeholder="type to narrow, enter picks, escape leaves", compact=True)
            yield self._choices

    def on_input_changed(self, event: Input.Changed) -> None:
        """Fewer choices."""
        self._choices.narrow(event.value)

    def on_input_submitted(self) -> None:
        """The choice under the cursor, if it can be picked."""
        if self._choices.count():
            choice = self._choices.shown[self._choices.cursor]
            if choice.why_not:
                self.app.bell()
            else:
                self.dismiss(choice.value)

    def on_line_list_chosen(self) -> None:
        """A double click picks."""
        self.on_input_submitted()

    def action_move(self, by: int) -> None:
        """Up or down without leaving the input."""
        self._choices.action_move(by)

    def action_leave(self) -> None:
        """Nothing is picked."""
        self.dismiss(None)
