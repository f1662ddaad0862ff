"""The app: which screen is on top. All else is in the screens."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from hypotree.model.event import Actor
from hypotree.tui.desk import Desk
from hypotree.tui.screens.bench import Bench
from hypotree.tui.screens.start import Start


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

    def __init__(self, folder: Path | None, actor: Actor) -> None:
        super().__init__()
        self.folder, self.actor = folder, actor

    def on_mount(self) -> None:
        """The session that was named, or a choice."""
        if self.folder is None:
            self.push_screen(Start())
        else:
            self.open_session(self.folder)

    def open_session(self, folder: Path) -> None:
        """Show a session in the place of whatever is on top."""
        bench = Bench(Desk(folder, self.actor))
        if isinstance(self.screen, Start):
            self.switch_screen(bench)
        else:
            self.push_screen(bench)


def run_app(folder: Path | None, actor: Actor) -> None:
    """Open the terminal UI and return when it was left."""
    HypotreeApp(folder, actor).run()
