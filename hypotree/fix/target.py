"""Whether a file can be replaced safely: asked by the gate, and again under the lock."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from hypotree.fix.users import writers_of

#: What a swap needs beside the new files themselves: undo pack, journal line.
_MARGIN = 1 << 20


def unsafe_reasons(path: Path) -> tuple[str, ...]:
    """Every reason why the file of that name must not be replaced, each with its way out."""
    reasons = (_link_reason(path), *_file_reasons(path), _folder_reason(path), _users_reason(path))
    return tuple(reason for reason in reasons if reason)


def space_reasons(needed: Iterable[tuple[Path, int]]) -> tuple[str, ...]:
    """Folders without room for all new files (path and size) at once: none goes before the last is written."""
    folders: dict[Path, int] = {}
    for path, size in needed:
        folders[path.parent] = folders.get(path.parent, _MARGIN) + size
    reasons = []
    for folder, size in folders.items():
        free = shutil.disk_usage(folder).free
        if free < size:
            reasons.append(f"{folder} has {free} bytes free, the swap needs {size}; make room")
    return tuple(reasons)


def _link_reason(path: Path) -> str:
    if not path.is_symlink():
        return ""
    return (
        f"{path} is a symbolic link to {path.resolve()}: replacing it would part the link, writing "
        "through it would change a file that others share (a hub cache names blobs by their hash); "
        "copy the checkpoint to a folder of your own"
    )


def _file_reasons(path: Path) -> list[str]:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return [f"{path} is no regular file"]
    reasons = []
    if status.st_nlink > 1:
        reasons.append(
            f"{path} has {status.st_nlink} hard links: the others would keep the old bytes; copy it"
        )
    if status.st_uid != os.geteuid():
        reasons.append(
            f"{path} belongs to user {status.st_uid}: replacing it would change its owner; copy it"
        )
    return reasons


def _users_reason(path: Path) -> str:
    users = writers_of(path)
    if not users:
        return ""
    return f"{path} is in use: {'; '.join(users)}; stop it, or work on a copy"


def _folder_reason(path: Path) -> str:
    if os.access(path.parent, os.W_OK | os.X_OK):
        return ""
    return f"the folder {path.parent} cannot be written; copy the checkpoint elsewhere"
