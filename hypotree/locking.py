"""Advisory file locks between processes, freed by the kernel when their holder dies.

filelock does the same and imports asyncio: 80 ms that every write would pay.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.005


class LockTimeoutError(Exception):
    """Another process holds the lock, and went on holding it."""


@contextmanager
def file_lock(path: Path, seconds: float) -> Iterator[None]:
    """Hold `path` (made if need be, never removed); `LockTimeoutError` after `seconds`.

    Not reentrant: a second lock of one path in one process waits like any other.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _acquire(fd, time.monotonic() + seconds)
        yield
    finally:
        os.close(fd)


def _acquire(fd: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise LockTimeoutError from error
            time.sleep(_POLL_SECONDS)
        else:
            return
