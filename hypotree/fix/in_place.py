"""Write changed ranges into the file itself: for files too large to copy, undo pack first.

A reader sees old and new ranges mixed while this runs, which the sibling way
never shows. A crash leaves a mix that the pack on disk turns back into the old file.
"""

from __future__ import annotations

import os
from pathlib import Path

from hypotree.errors import MisuseError, ToolError
from hypotree.fix.segments import Fresh, Kept, SegmentedFile

Ranges = tuple[tuple[int, bytes], ...]


def fits_in_place(view: SegmentedFile) -> bool:
    """Whether nothing moves: every kept range stays where it was, and the length stays."""
    at = 0
    for segment in view.segments:
        if isinstance(segment, Kept) and segment.offset != at:
            return False
        at += segment.length
    return at == view.base.size


def need_in_place(view: SegmentedFile, path: Path) -> None:
    """`MisuseError` if the new file cannot be made inside the old one."""
    if not fits_in_place(view):
        raise MisuseError(
            f"writing {path} in place",
            "bytes that do not change would have to move, or the file's length changes",
            "apply it without --in-place",
        )


def new_ranges(view: SegmentedFile) -> Ranges:
    """Position and bytes of every range that is not the old file's."""
    ranges, at = [], 0
    for segment in view.segments:
        if isinstance(segment, Fresh):
            ranges.append((at, segment.data))
        at += segment.length
    return tuple(ranges)


def old_ranges(view: SegmentedFile) -> Ranges:
    """What stands in those ranges now."""
    return tuple((at, view.base.read(at, len(data))) for at, data in new_ranges(view))


def write_ranges(path: Path, ranges: Ranges) -> None:
    """Put every range at its place, durably; the inode, mode and length stay."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        for at, data in ranges:
            _write_at(fd, at, data)
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_at(fd: int, at: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(fd, view, at)
        if not count:
            raise ToolError("writing in place", "the disk took no more bytes")
        view, at = view[count:], at + count
