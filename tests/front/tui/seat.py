"""A seat before the screen: the real app, headless, driven by keys and mouse."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from hypotree.model.event import Actor
from hypotree.tui.app import HypotreeApp
from hypotree.tui.screens.bench import Bench

TUI = Actor("cli", "tui")


def ui(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """An async test as a plain one."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class Seat:
    """What a person at the screen can do and see."""

    def __init__(self, app: HypotreeApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def bench(self) -> Bench:
        return next(s for s in reversed(self.app.screen_stack) if isinstance(s, Bench))

    @property
    def node(self) -> str:
        return self.bench.node

    @property
    def screen(self) -> str:
        """The name of the screen on top."""
        return type(self.app.screen).__name__

    def text(self) -> str:
        """Every character on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    def told(self) -> str:
        """All messages in the corner."""
        return "\n".join(n.message for n in self.app._notifications)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def write(self, text: str) -> None:
        """Type into what has the focus, at once (a press costs 63 ms a key)."""
        widget = self.app.focused
        widget.insert_text_at_cursor(text)
        await self.pilot.pause()

    async def fill(self, name: str, text: str) -> None:
        """Put `text` into a field of the open form."""
        widget = self.app.screen.query_one(f"#field-{name}")
        if hasattr(widget, "text"):
            widget.text = text
        else:
            widget.value = text
        await self.pilot.pause()

    async def until(self, holds: Callable[[], object], seconds: float = 30) -> None:
        """Wait until something holds; fails with what is on the screen."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"{self.text()}\n{self.told()}"
            await asyncio.sleep(0.02)
        await self.pilot.pause()

    async def ready(self) -> None:
        """The session has been read and compared."""
        await self.until(lambda: self.bench.board is not None and not self.bench._is_looking)

    async def idle(self) -> None:
        """No probe runs and nothing is being read."""
        await self.until(lambda: not self.bench.is_busy())
        await self.ready()

    async def run(self) -> None:
        """Run the node's probe and wait for its end."""
        before = self.bench.board.seq
        await self.press("r")
        await self.until(lambda: self.bench.board.seq > before)
        await self.idle()

    async def select(self, node: str) -> None:
        self.bench.go_to(node)
        await self.pilot.pause(0.1)

    async def send(self) -> None:
        await self.press("ctrl+s")


@asynccontextmanager
async def sitting(
    folder: Path, size: tuple[int, int] = (100, 32), actor: Actor = TUI, *, toasts: bool = False
) -> AsyncIterator[Seat]:
    """Open a session and wait until it is there."""
    app = HypotreeApp(folder, actor)
    async with app.run_test(size=size, notifications=toasts) as pilot:
        seat = Seat(app, pilot)
        await seat.ready()
        await pilot.pause(0.05)
        yield seat
