"""The app: which screen is on top. All else is in the screens."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from hypotree.model.event import Actor
from hypotree.tui.desk import Desk
from hypotree.tui.screens.bench import Bench


class HypotreeApp(App[None]):
    """A session's bench, or the screen on which one is chosen."""

    TITLE = "hypotree"
    ENABLE_COMMAND_PALETTE = True
    #: Narrow panes are stacked; where there is no height, the journal goes first.
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - the base declares it so
        (0, "-narrow"), (72, "-normal"), (110, "-wide"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 - the base declares it so
        (0, "-short"), (18, "-medium"), (34, "-tall"),
    ]  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
    ]

    def __init__(self, folder: Path | None, actor: Actor, first: Screen[Any] | None = None) -> None:
        super().__init__()
        self.folder, self.actor, self._first = folder, actor, first

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Those of textual that ours do not have already; the bench's come from its table."""
        if isinstance(screen, Bench):
            return ()
        return super().get_system_commands(screen)

    def on_mount(self) -> None:
        """The session that was named, or a choice."""
        if self._first is not None:
            self.push_screen(self._first)
        elif self.folder is None:
            from hypotree.tui.screens.start import Start

            self.push_screen(Start())
        else:
            self.open_session(self.folder)

    def open_session(self, folder: Path) -> None:
        """Show a session in the place of whatever is on top."""
        bench = Bench(Desk(folder, self.actor))
        if len(self.screen_stack) > 1:
            self.switch_screen(bench)
        else:
            self.push_screen(bench)


def run_app(folder: Path | None, actor: Actor) -> None:
    """Open the terminal UI and return when it was left."""
    HypotreeApp(folder, actor).run()


def run_inspector(path: str, other: str, actor: Actor) -> None:
    """Open the inspector alone."""
    from hypotree.tui.screens.inspector import Inspector

    HypotreeApp(None, actor, Inspector(path, other)).run()
