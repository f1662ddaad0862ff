"""Reading: a page over the screen, such as the help; and KeyPrompt: one key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from hypotree.artifact.plain import plain
from hypotree.tui.lines import Line
from hypotree.tui.widgets.page import Page


class Reading(ModalScreen[None]):
    """Something to read; any way out closes it."""

    DEFAULT_CSS = """
    Reading { align: center middle; }
    Reading > Vertical { width: 92%; height: 90%; border: round $primary; background: $surface; }
    Reading .title { text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "leave", "Close")]

    def __init__(self, title: str, lines: Iterable[Line]) -> None:
        super().__init__()
        self._title, self._lines = title, tuple(lines)

    def compose(self) -> ComposeResult:
        """A title and a page."""
        with Vertical():
            yield Static(plain(self._title, 200), classes="title", markup=False)
            yield Page("reading")

    def on_mount(self) -> None:
        """The page takes the keys."""
        page = self.query_one(Page)
        page.show(self._lines)
        page.focus()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)


class KeyPrompt(ModalScreen[str]):
    """Waits for one letter; escape gives none."""

    DEFAULT_CSS = """
    KeyPrompt { align: center bottom; background: transparent; }
    KeyPrompt Static { width: 100%; height: 1; background: $primary-muted; }
    """

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question alone."""
        yield Static(plain(self._question, 200), markup=False)

    def on_key(self, event: events.Key) -> None:
        """The letter, or nothing."""
        event.stop()
        is_letter = event.character is not None and event.character.isalnum()
        self.dismiss(event.character or "" if is_letter else "")
