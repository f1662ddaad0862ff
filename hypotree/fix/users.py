"""Other processes that hold a file: mapped, or open for writing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_ACCESS_MODE = os.O_WRONLY | os.O_RDWR


def users_of(path: Path) -> tuple[str, ...]:
    """One sentence for each other process that maps `path` or has it open for writing.

    Only what this user may see of other processes; nothing where there is no /proc.
    """
    try:
        status = path.stat()
    except OSError:
        return ()
    return tuple(found for pid in _others() for found in _uses(pid, status))


def _others() -> Iterator[str]:
    try:
        names = os.listdir(_PROC)
    except OSError:
        return
    own = str(os.getpid())
    yield from (name for name in names if name.isdigit() and name != own)


def _uses(pid: str, status: os.stat_result) -> Iterator[str]:
    try:
        if _maps(pid, status):
            yield f"process {pid} ({_name(pid)}) maps it"
        if _writes(pid, status):
            yield f"process {pid} ({_name(pid)}) has it open for writing"
    except OSError:
        return


def _maps(pid: str, status: os.stat_result) -> bool:
    inode = f" {status.st_ino} "
    device = f" {os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x} "
    text = (_PROC / pid / "maps").read_text("utf-8", "replace")
    return inode in text and any(inode in line and device in line for line in text.splitlines())


def _writes(pid: str, status: os.stat_result) -> bool:
    for fd in os.listdir(_PROC / pid / "fd"):
        try:
            found = (_PROC / pid / "fd" / fd).stat()
            if (found.st_dev, found.st_ino) == (status.st_dev, status.st_ino):
                info = (_PROC / pid / "fdinfo" / fd).read_text()
                flags = int(
                    next(line for line in info.splitlines() if line.startswith("flags")).split()[1],
                    8,
                )
                if flags & _ACCESS_MODE:
                    return True
        except (OSError, StopIteration):
            continue
    return False


def _name(pid: str) -> str:
    return (_PROC / pid / "comm").read_text("utf-8", "replace").strip()
