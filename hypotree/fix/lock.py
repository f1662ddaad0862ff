"""Hold files against other hypotree processes of this user."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from hypotree.digest import Digest
from hypotree.errors import ToolError
from hypotree.locking import LockTimeoutError, file_lock

LOCK_SECONDS = 10.0


class BusyError(ToolError):
    """Another process is writing the file now."""

    code = "busy"


@contextlib.contextmanager
def locked(paths: Iterable[Path], seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold all of `paths`, in the same order for everybody; `BusyError` after `seconds` of waiting."""
    with contextlib.ExitStack() as stack:
        for path in sorted({path.resolve() for path in paths}):
            _hold(stack, path, seconds)
        yield


def _hold(stack: contextlib.ExitStack, path: Path, seconds: float) -> None:
    name = f"{Digest.of(os.fsencode(path)).hex}.lock"
    try:
        stack.enter_context(file_lock(_folder() / name, seconds))
    except LockTimeoutError as error:
        raise BusyError(f"locking {path}", "another hypotree process is writing it") from error


def _folder() -> Path:
    """The lock files' folder; one that somebody else has put there is not used."""
    folder = Path(tempfile.gettempdir(), f"hypotree-locks-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise ToolError(f"locking in {folder}", "it is another user's, or no folder", "remove it")
    return folder
