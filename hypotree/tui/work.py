"""Working: run things on threads and bring what comes of them back to the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from textual.message import Message
from textual.screen import Screen

from hypotree.artifact.plain import plain
from hypotree.errors import HypotreeError

T = TypeVar("T")
Severity = Literal["information", "warning", "error"]


class Arrived(Message):
    """Something is ready to be shown."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act
        super().__init__()


class Working(Screen[Any]):
    """A screen whose work is done elsewhere."""

    def work(
        self,
        job: Callable[[], T],
        then: Callable[[T], object],
        failed: Callable[[], object] | None = None,
        group: str = "work",
    ) -> None:
        """Run `job` on a thread, `then` with its result here; an error is told and ends nothing."""

        def body() -> None:
            try:
                result = job()
            except (HypotreeError, OSError) as error:
                self.arrive(self._failed, str(error), failed)
            except Exception as error:  # noqa: BLE001 - what nobody foresaw must not end the screen
                self.arrive(self._failed, f"{type(error).__name__}: {error}", failed)
            else:
                self.arrive(then, result)

        self.run_worker(body, thread=True, group=group, exit_on_error=False)

    def arrive(self, act: Callable[..., object], *values: object) -> None:
        """Have `act` called on the screen's own thread; from any thread, at any time."""
        self.post_message(Arrived(lambda: act(*values)))

    def on_arrived(self, event: Arrived) -> None:
        """Do what has arrived."""
        event.act()

    def tell(self, text: str, severity: Severity = "information", timeout: float = 6) -> None:
        """A message in the corner; never markup."""
        self.notify(plain(text, 1200), severity=severity, timeout=timeout, markup=False)

    def say(self, text: str) -> None:
        """One line of status; screens that have such a line show it there."""
        if text:
            self.tell(text)

    def _failed(self, text: str, failed: Callable[[], object] | None) -> None:
        self.say("")
        self.tell(text, "error", timeout=12)
        if failed is not None:
            failed()
