"""Confirm: the plan in full, and a name to type. No single key can write anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from hypotree.artifact.plain import plain
from hypotree.tui.lines import Line
from hypotree.tui.widgets.page import Page


class Confirm(ModalScreen[bool]):
    """True only if the name was typed and sent."""

    DEFAULT_CSS = """
    Confirm { align: center middle; }
    Confirm > Vertical { width: 94%; height: 90%; border: round $warning; background: $surface; }
    Confirm Input { height: 1; background: $boost; }
    Confirm .title { text-style: bold; }
    Confirm #wrong { color: $text-error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Do nothing"),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]

    def __init__(
        self, title: str, name: str, lines: Sequence[Line], draft: str, keep: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._title, self._wanted, self._lines = title, name, lines
        self._draft, self._keep = draft, keep

    def compose(self) -> ComposeResult:
        """What would happen, above the question."""
        with Vertical():
            yield Static(plain(self._title, 300), classes="title", markup=False)
            yield Page("what")
            yield Static(
                f"type {plain(self._wanted, 120)} and press enter; escape does nothing",
                markup=False,
            )
            yield Input(self._draft, id="typed", select_on_focus=False, compact=True)
            yield Static("", id="wrong", markup=False)

    def on_mount(self) -> None:
        """The input has the focus, the plan is there to be read."""
        self.query_one(Page).show(self._lines)
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Only the very name agrees."""
        if event.value == self._wanted:
            self._keep("")
            self.dismiss(True)  # noqa: FBT003 - textual's signature
            return
        self.query_one("#wrong", Static).update(f"that is not {plain(self._wanted, 120)}")

    def action_page(self, by: int) -> None:
        """Read on without leaving the input."""
        self.query_one(Page).action_page(by)

    def action_leave(self) -> None:
        """Nothing happens, and what was typed is kept."""
        self._keep(self.query_one(Input).value)
        self.dismiss(False)  # noqa: FBT003 - textual's signature
