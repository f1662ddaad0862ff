"""Which lines of the engine's files ran: the evidence that its code was run, not read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

_ENGINE: Final = "<engine>/"


class Lines:
    """Executed lines by file and function."""

    def __init__(self) -> None:
        self.ran: dict[str, dict[str, set[int]]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Trace this thread; only the engine's own frames cost anything."""
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(None)

    def _call(self, frame: FrameType, event: str, arg: object) -> Any:
        del event, arg
        return self._line if frame.f_code.co_filename.startswith(_ENGINE) else None

    def _line(self, frame: FrameType, event: str, arg: object) -> Any:
        del arg
        if event == "line":
            file = frame.f_code.co_filename.removeprefix(_ENGINE)
            by_function = self.ran.setdefault(file, {})
            by_function.setdefault(frame.f_code.co_qualname, set()).add(frame.f_lineno)
        return self._line

    def report(self) -> list[list[str]]:
        """File, function, lines as ranges."""
        return [
            [file, function, ranges(sorted(lines))]
            for file, functions in sorted(self.ran.items())
            for function, lines in sorted(functions.items())
        ]


def ranges(numbers: list[int]) -> str:
    """`3-5, 9` for [3, 4, 5, 9]."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)
