"""A file made of pieces of another file and pieces of memory: the copy-on-write view."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from hypotree.artifact.files import ByteFile
from hypotree.errors import UnreadableError


@dataclass(frozen=True)
class Kept:
    """Bytes taken from the old file."""

    offset: int
    length: int


@dataclass(frozen=True)
class Fresh:
    """Bytes that are new."""

    data: bytes

    @property
    def length(self) -> int:
        """How many they are."""
        return len(self.data)


Segment = Kept | Fresh


class SegmentedFile:
    """A `ByteFile` over `segments`; nothing is copied until it is read."""

    def __init__(self, base: ByteFile, segments: tuple[Segment, ...]) -> None:
        self.base = base
        self.segments = merged(segments)
        self._starts: list[int] = []
        at = 0
        for segment in self.segments:
            self._starts.append(at)
            at += segment.length
        self._size = at

    @property
    def size(self) -> int:
        """Length in bytes."""
        return self._size

    @property
    def fresh_bytes(self) -> int:
        """How many bytes are not the old file's."""
        return sum(s.length for s in self.segments if isinstance(s, Fresh))

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset`."""
        if offset < 0 or offset + length > self._size:
            raise UnreadableError(
                f"reading {length} bytes at {offset} of a staged file", f"it has {self._size} bytes"
            )
        parts: list[bytes] = []
        index = bisect_right(self._starts, offset) - 1
        while length:
            piece = self._piece(index, offset - self._starts[index], length)
            parts.append(piece)
            offset, length, index = offset + len(piece), length - len(piece), index + 1
        return b"".join(parts)

    def _piece(self, index: int, skip: int, length: int) -> bytes:
        segment = self.segments[index]
        count = min(length, segment.length - skip)
        if isinstance(segment, Kept):
            return self.base.read(segment.offset + skip, count)
        return segment.data[skip : skip + count]


def merged(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """The same bytes in as few segments as possible; empty ones dropped."""
    result: list[Segment] = []
    for segment in segments:
        last = result[-1] if result else None
        if not segment.length:
            continue
        if isinstance(segment, Kept) and isinstance(last, Kept):
            if last.offset + last.length == segment.offset:
                result[-1] = Kept(last.offset, last.length + segment.length)
                continue
        elif isinstance(segment, Fresh) and isinstance(last, Fresh):
            result[-1] = Fresh(last.data + segment.data)
            continue
        result.append(segment)
    return tuple(result)
