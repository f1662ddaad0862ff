"""Pictures of the incident for the README: `python -m hypotree.tui.screenshots DIR`.

The incident is made anew and played through the screen itself, so that no picture shows what the
tool does not do.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widgets import Input

from hypotree.model.event import Actor
from hypotree.tui.app import HypotreeApp
from hypotree.tui.screens.bench import Bench
from hypotree.tui.screens.confirm import Confirm
from hypotree.tui.stories import make_demo

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from hypotree.tui.board import Board

_SIZE = (120, 36)
_SECONDS = 120.0


async def take(folder: Path, out: Path) -> list[Path]:
    """Play the incident in `folder` and write one SVG a scene into `out`."""
    app = HypotreeApp(folder, Actor("cli", "tui"))
    async with app.run_test(size=_SIZE) as pilot:
        scene = _Scene(app, pilot, out)
        await scene.until(lambda: scene.bench.board is not None)
        await scene.press("S")
        await scene.until(lambda: bool(scene.board.view.measurements))
        await scene.run("H1")
        scene.shoot("1-confirmed")
        await scene.apply("H1")
        scene.shoot("2-apply")
        await scene.agree()
        await scene.run("H2")
        await scene.press("A")
        await scene.until(lambda: "H2" in scene.board.refused)
        scene.shoot("3-refused")
        await scene.press("1")
        await scene.run("H3")
        scene.shoot("4-cause")
        await scene.press("question_mark")
        scene.shoot("5-keys")
    return scene.taken


class _Scene:
    """The app, its pilot, and the pictures taken."""

    def __init__(self, app: HypotreeApp, pilot: Pilot[None], out: Path) -> None:
        self._app, self._pilot, self._out = app, pilot, out
        self.taken: list[Path] = []

    @property
    def bench(self) -> Bench:
        return next(s for s in self._app.screen_stack if isinstance(s, Bench))

    @property
    def board(self) -> Board:
        assert self.bench.board is not None
        return self.bench.board

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def run(self, node: str) -> None:
        """Run a node's probe and wait until it has been shown."""
        self.bench.go_to(node)
        await self.press("r")
        await self.until(lambda: not self.bench.is_busy() and node in self.board.standings)

    async def apply(self, node: str) -> None:
        """Ask for the node's fix."""
        self.bench.go_to(node)
        await self.press("A")
        await self.until(lambda: isinstance(self._app.screen, Confirm))
        self._app.screen.query_one(Input).value = "model.safetensors"
        await self._pilot.pause(0.2)

    async def agree(self) -> None:
        """Send the typed name and wait until all was measured again."""
        before = len(self.board.view.measurements)
        await self.press("enter")
        await self.until(lambda: len(self.board.view.measurements) > before)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something, then for the screen to come to rest."""
        end = time.monotonic() + _SECONDS
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(self._app.export_screenshot())
            await asyncio.sleep(0.05)
        await self._pilot.pause(0.6)

    def shoot(self, name: str) -> None:
        """Write what is on the screen."""
        path = self._out / f"{name}.svg"
        path.write_text(self._app.export_screenshot(title="hypotree"))
        self.taken.append(path)


def main(argv: list[str]) -> int:
    """Write the pictures into the folder that is named."""
    out = Path(argv[0] if argv else ".")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hypotree-screenshots-") as scratch:
        os.environ["XDG_STATE_HOME"] = f"{scratch}/state"
        folder = make_demo(Path(scratch) / "incident")
        for path in asyncio.run(take(folder, out)):
            sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
