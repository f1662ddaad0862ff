"""Other processes that hold a file: mapped, or open for writing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

_PROC = Path("/proc")
_ACCESS_MODE = os.O_WRONLY | os.O_RDWR


def writers_of(path: Path) -> tuple[str, ...]:
    """One sentence for each other process that has `path` open for writing; usually one system call.

    A read lease is granted only where nobody writes (fcntl(2), F_SETLEASE). A file
    system without leases answers like one without writers.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return ()
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return _named(path, _writes, "has it open for writing") or ("some process is writing it",)
    except OSError:
        return ()
    finally:
        os.close(fd)
    return ()


def mappers_of(path: Path) -> tuple[str, ...]:
    """One sentence for each other process that maps `path`, as far as this user may see.

    Reads the maps of every process: asked only where a mapping matters.
    """
    return _named(path, _maps, "maps it")


def _named(path: Path, uses: Callable[[str, os.stat_result], bool], what: str) -> tuple[str, ...]:
    status = path.stat()
    found = []
    for pid in _others():
        try:
            if uses(pid, status):
                found.append(f"process {pid} ({_name(pid)}) {what}")
        except OSError:
            continue
    return tuple(found)


def _others() -> Iterator[str]:
    try:
        names = os.listdir(_PROC)
    except OSError:
        return
    own = str(os.getpid())
    yield from (name for name in names if name.isdigit() and name != own)


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
