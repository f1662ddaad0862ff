"""Write the new file beside the old one, durably, and read it back."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from hypotree.artifact.files import DiskFile
from hypotree.digest import CHUNK, Digest
from hypotree.errors import ToolError
from hypotree.fix.segments import Kept, SegmentedFile

#: What file systems say that cannot copy a range inside the kernel.
_NO_KERNEL_COPY = {errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL}
#: mkstemp's own part of the name.
_RANDOM = 8


def write_beside(path: Path, content: SegmentedFile, tag: str) -> Path:
    """A durable sibling of `path` holding `content`, with the mode, group and attributes of `path`.

    `tag` tells the siblings of one swap from those of any other.
    """
    old = on_disk(content).fileno()
    fd, name = tempfile.mkstemp(prefix=_prefix(path, tag), dir=path.parent)
    try:
        _fill(fd, content, old)
        _keep_attributes(fd, path)
        os.fsync(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    finally:
        os.close(fd)
    return Path(name)


def leftovers(path: Path, tag: str) -> list[Path]:
    """Siblings of `path` that the swap of that tag had written and not put in place."""
    prefix = _prefix(path, tag)
    return [
        path.parent / name
        for name in os.listdir(path.parent)
        if name.startswith(prefix) and len(name) == len(prefix) + _RANDOM
    ]


def difference(path: Path, expected: SegmentedFile) -> str:
    """Where the file at `path` is not `expected`, all of it compared; "" if it is."""
    actual = DiskFile(path)
    if actual.size != expected.size:
        return f"it has {actual.size} bytes, not {expected.size}"
    base, at = on_disk(expected), 0
    for segment in expected.segments:
        if isinstance(segment, Kept):
            place = _first_unequal(actual, at, base, segment.offset, segment.length)
        else:
            is_same = actual.read(at, segment.length) == segment.data
            place = None if is_same else at
        if place is not None:
            return f"it differs from the plan near byte {place}"
        at += segment.length
    return ""


def _first_unequal(one: DiskFile, at: int, other: DiskFile, offset: int, length: int) -> int | None:
    """The chunk of `one` from `at` on that differs from `other` from `offset` on.

    Two buffers for all of it: fresh memory for each chunk would cost more than the reading.
    """
    size = min(CHUNK, length)
    mine, theirs = bytearray(size), bytearray(size)
    for start in range(0, length, size):
        count = min(size, length - start)
        if count < size:
            mine, theirs = mine[:count], theirs[:count]
        one.read_into(at + start, mine)
        other.read_into(offset + start, theirs)
        if mine != theirs:
            return at + start
    return None


def on_disk(content: SegmentedFile) -> DiskFile:
    """The file that `content` is a view over; `ToolError` if that is not on disk."""
    if not isinstance(content.base, DiskFile):
        raise ToolError("replacing a file", "the staged view is not over a file on disk")
    return content.base


def _prefix(path: Path, tag: str) -> str:
    name = os.fsencode(path.name)
    return f".{path.name if len(name) <= 190 else Digest.of(name).short}.hypotree-{tag}-"


def _keep_attributes(fd: int, path: Path) -> None:
    status = path.stat()
    if os.fstat(fd).st_gid != status.st_gid:
        os.fchown(fd, -1, status.st_gid)
    os.fchmod(fd, status.st_mode & 0o7777)
    for name in os.listxattr(path):
        # Access lists and labels; what only the system may set is the system's to set.
        with contextlib.suppress(OSError):
            os.setxattr(fd, name, os.getxattr(path, name))


def _fill(fd: int, content: SegmentedFile, old: int) -> None:
    """Kept ranges are copied in the kernel (shared, where the file system can), fresh ones written."""
    for segment in content.segments:
        if isinstance(segment, Kept):
            _copy(old, fd, segment.offset, segment.length)
        else:
            _write(fd, segment.data)


def _copy(source: int, fd: int, offset: int, left: int) -> None:
    while left:
        try:
            count = os.copy_file_range(source, fd, left, offset)
        except OSError as error:
            if error.errno not in _NO_KERNEL_COPY:
                raise
            data = os.pread(source, min(left, CHUNK), offset)
            _write(fd, data)
            count = len(data)
        if not count:
            raise ToolError("copying unchanged tensors", "the old file ended early")
        offset, left = offset + count, left - count


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
