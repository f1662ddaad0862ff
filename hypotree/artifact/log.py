"""Server logs: streamed line by line, bounded, digested in the same pass."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from hypotree.artifact.base import Artifact
from hypotree.artifact.files import ByteFile
from hypotree.digest import CHUNK, Digest, digest_file

#: Longer lines are cut here: no engine writes its counters behind 64 KiB of text.
MAX_LINE = 64 * 1024


class Log(Artifact):
    """One text file of observations."""

    kind: ClassVar[str] = "log"

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.locator).name

    def lines(self) -> Iterator[tuple[int, str]]:
        """Line number (from 1) and text of every line; noted whole, however few of them are taken."""
        file = self.tree.open(self.name)
        state, whole_file = hashlib.sha256(), False
        try:
            yield from self._lines(file, state)
            whole_file = True
        finally:
            digest = Digest(state.hexdigest()) if whole_file else digest_file(file)
            self.note("file", self.name, digest)

    def _lines(self, file: ByteFile, state: hashlib._Hash) -> Iterator[tuple[int, str]]:
        rest, number, offset = b"", 0, 0
        while offset < file.size:
            data = file.read(offset, min(CHUNK, file.size - offset))
            state.update(data)
            offset += len(data)
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                number += 1
                yield number, _text(line)
            rest = rest[:MAX_LINE]
        if rest:
            yield number + 1, _text(rest)


def _text(line: bytes) -> str:
    return line[:MAX_LINE].decode("utf-8", "replace").rstrip("\r")
