"""Watcher: a thread that notices within a fifth of a second what other processes did."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event, Thread
from typing import Final

INTERVAL: Final = 0.2
#: The files of artifacts are looked at every so many turns.
_TURNS: Final = 10


class Watcher(Thread):
    """Compares what `stat` says; reads nothing. `changed` is called on this thread."""

    def __init__(
        self, journal: Path, artifacts: Callable[[], Iterable[str]], changed: Callable[[], object]
    ) -> None:
        super().__init__(name="hypotree-watcher", daemon=True)
        self._journal, self._artifacts, self._changed = journal, artifacts, changed
        self._stopped = Event()

    def run(self) -> None:
        """Look until stopped."""
        journal, files, turn = mark_of(str(self._journal)), self._files(), 0
        while not self._stopped.wait(INTERVAL):
            turn += 1
            now, seen = mark_of(str(self._journal)), files
            if turn % _TURNS == 0:
                seen = self._files()
            if now != journal or seen != files:
                journal, files = now, seen
                self._changed()

    def stop(self) -> None:
        """End at the next look."""
        self._stopped.set()

    def _files(self) -> list[tuple[int, ...]]:
        return [mark for path in self._artifacts() for mark in marks_below(path)]


def mark_of(path: str) -> tuple[int, ...]:
    """Which file this is and how it is: device, inode, size, time; empty if it is not there."""
    with contextlib.suppress(OSError, ValueError):
        found = Path(path).stat()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
    return ()


def marks_below(path: str, limit: int = 200) -> list[tuple[int, ...]]:
    """The marks of an artifact: of the file, or of the folder and the first files in it."""
    marks = [mark_of(path)]
    with contextlib.suppress(OSError, ValueError), os.scandir(path) as entries:
        for entry, _ in zip(entries, range(limit), strict=False):
            marks.append(mark_of(entry.path))
    return marks
