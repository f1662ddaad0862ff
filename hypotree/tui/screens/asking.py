"""Asking: forms, confirmations, lists and pages over a screen; what was typed is kept in drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from hypotree.tui.screens.confirm import Confirm
from hypotree.tui.screens.form import Field, Form, Values
from hypotree.tui.screens.pick import Choice, Pick
from hypotree.tui.screens.reading import Reading
from hypotree.tui.work import Working

if TYPE_CHECKING:
    from hypotree.tui.lines import Line


class Asking(Working):
    """A screen that asks."""

    def __init__(self) -> None:
        super().__init__()
        self.drafts: dict[str, Values] = {}

    def form(
        self, key: str, title: str, fields: Sequence[Field], then: Callable[[Values], object]
    ) -> None:
        """Ask for a few fields; the draft under `key` is kept until `then` forgets it."""

        def keep(values: Values) -> None:
            self.drafts[key] = values

        def sent(values: Values | None) -> None:
            if values is not None:
                then(values)

        self.app.push_screen(Form(title, fields, self.drafts.get(key, {}), keep), sent)

    def confirm(
        self, title: str, name: str, lines: Sequence[Line], then: Callable[[], object]
    ) -> None:
        """Have `name` typed."""
        draft = self.drafts.get(title, {}).get("typed", "")

        def keep(typed: str) -> None:
            self.drafts[title] = {"typed": typed}

        def answered(is_agreed: bool | None) -> None:  # noqa: FBT001 - a result, not a flag
            self.say("")
            if is_agreed:
                then()

        self.app.push_screen(Confirm(title, name, lines, draft, keep), answered)

    def pick(self, title: str, choices: Sequence[Choice], then: Callable[[str], object]) -> None:
        """Let one of a list be chosen."""

        def picked(value: str | None) -> None:
            if value is not None:
                then(value)

        self.app.push_screen(Pick(title, choices), picked)

    def read(self, title: str, lines: Iterable[Line]) -> None:
        """Show something to read."""
        self.app.push_screen(Reading(title, lines))
