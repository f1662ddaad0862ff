"""Whether a file can be replaced safely: asked before anything is written."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from hypotree.model.fix import FilePlan

#: What a swap needs beside the new file itself: undo pack, journal line.
_MARGIN = 1 << 20


def unsafe_reasons(folder: Path, file: FilePlan) -> tuple[str, ...]:
    """Every reason why `file` in `folder` must not be replaced, each with its way out."""
    named = folder / file.name
    reasons = [_link_reason(named), _hard_link_reason(named), _folder_reason(named)]
    reasons.append(_space_reason(named, file.size_after))
    return tuple(reason for reason in reasons if reason)


def _link_reason(path: Path) -> str:
    if not path.is_symlink():
        return ""
    return (
        f"{path} is a symbolic link to {path.resolve()}: replacing it would part the link, writing "
        "through it would change a file that others share (a hub cache names blobs by their hash); "
        "copy the checkpoint to a folder of your own"
    )


def _hard_link_reason(path: Path) -> str:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return f"{path} is no regular file"
    if status.st_nlink > 1:
        return (
            f"{path} has {status.st_nlink} hard links: the others would keep the old bytes; copy it"
        )
    if status.st_uid != os.geteuid():
        return (
            f"{path} belongs to user {status.st_uid}: replacing it would change its owner; copy it"
        )
    return ""


def _folder_reason(path: Path) -> str:
    if os.access(path.parent, os.W_OK | os.X_OK):
        return ""
    return f"the folder {path.parent} cannot be written; copy the checkpoint elsewhere"


def _space_reason(path: Path, needed: int) -> str:
    free = shutil.disk_usage(path.parent).free
    if free >= needed + _MARGIN:
        return ""
    return f"{path.parent} has {free} bytes free, the new file needs {needed}; make room"
