"""A folder as it would be after a fix: the copy-on-write view that probes are put to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hypotree.artifact.files import ByteFile, FileIdentity, FileTree
from hypotree.fix.segments import SegmentedFile


class StagedTree:
    """A folder as it would be: some files replaced by staged ones, the rest the base's own."""

    def __init__(self, base: FileTree, staged: Mapping[str, SegmentedFile]) -> None:
        self.base = base
        self.staged = dict(staged)

    @property
    def root(self) -> Path:
        """The base's root."""
        return self.base.root

    def names(self) -> tuple[str, ...]:
        """All file names, sorted."""
        return tuple(sorted({*self.base.names(), *self.staged}))

    def has(self, name: str) -> bool:
        """Whether the staged folder holds `name`."""
        return name in self.staged or self.base.has(name)

    def open(self, name: str) -> ByteFile:
        """The staged file, or the base's."""
        return self.staged.get(name) or self.base.open(name)

    def identity(self, name: str) -> FileIdentity:
        """The base's identity: a staged file has none of its own yet."""
        return self.base.identity(name)
