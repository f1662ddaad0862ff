"""A `ByteFile` for libraries that want a stream."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from hypotree.errors import LimitError

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile


class ByteStream(io.RawIOBase):
    """A `ByteFile` as a binary stream; one read of more than `most` bytes is a `LimitError`."""

    def __init__(self, file: ByteFile, asked: str, most: int) -> None:
        super().__init__()
        self._file, self._asked, self._most, self._at = file, asked, most, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to `offset` from the start, from here or from the end."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size}[whence]
        if base + offset < 0:
            message = "a seek before the start of the file"
            raise ValueError(message)
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        """Where the next read starts."""
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes, all that remain if it is negative."""
        left = max(self._file.size - self._at, 0)
        count = left if size is None or size < 0 else min(size, left)
        if count > self._most:
            raise LimitError(self._asked, f"one part of it is larger than {self._most} bytes")
        data = self._file.read(self._at, count)
        self._at += count
        return data

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fills `buffer` as far as the file goes."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
