"""The palette: every command of the table, by what it does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from hypotree.tui.commands import COMMANDS, Command, key_text

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


class CommandProvider(Provider):
    """Offers what applies to the node under the cursor."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for command in self._usable():
            yield DiscoveryHit(
                _title(command), partial(command.run, self._bench), help=command.about
            )

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for command in self._usable():
            text = _title(command)
            score = max(matcher.match(text), matcher.match(command.about))
            if score > 0:
                run = partial(command.run, self._bench)
                yield Hit(score, matcher.highlight(text), run, help=command.about)

    @property
    def _bench(self) -> Bench:
        return cast("Bench", self.screen)

    def _usable(self) -> list[Command]:
        return [command for command in COMMANDS.values() if command.when(self._bench)]


def _title(command: Command) -> str:
    return f"{command.label} ({key_text(command.keys)})"
