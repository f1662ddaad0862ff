"""What every artifact has in common: it remembers what was read of it, and can digest it again."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hypotree.artifact.files import ByteFile, DiskTree, FileIdentity, FileTree
from hypotree.digest import ABSENT, Digest, digest_file
from hypotree.errors import MisuseError
from hypotree.model.evidence import Read


class Artifact:
    """A reader over one artifact; subclasses add what their kind can be asked.

    Every question notes a `Read`: its kind, its name, and the digest of exactly
    what was seen. `digest_of` answers the same question again, which is how
    evidence is known to be fresh.
    """

    kind: ClassVar[str]

    def __init__(self, locator: str, tree: FileTree | None = None, form: str = "") -> None:
        self.locator = locator
        self.form = form
        self._tree = tree
        self._reads: dict[tuple[str, str], Digest] = {}

    @property
    def tree(self) -> FileTree:
        """The files, opened at the first question."""
        if self._tree is None:
            self._tree = DiskTree(Path(self.locator))
        return self._tree

    @property
    def reads(self) -> tuple[Read, ...]:
        """All that was read so far, in order."""
        return tuple(Read(kind, name, digest) for (kind, name), digest in self._reads.items())

    def note(self, kind: str, name: str, digest: Digest) -> None:
        """Remember that `name` was read and what it digested to."""
        self._reads.setdefault((kind, name), digest)

    def digest_of(self, kind: str, name: str) -> Digest:
        """What `name` digests to now; `ABSENT` if it is not there."""
        if kind == "file":
            return self._file_digest(name)
        if kind in {"size", "identity"}:
            return self._place_digest(kind, name)
        raise MisuseError(f"digesting {kind} {name!r} of {self.locator}", "no such kind of read")

    def file(self, name: str) -> ByteFile | None:
        """A small file, noted whole; None (and noted so) if it is not there."""
        self.note("file", name, self._file_digest(name))
        return self.tree.open(name) if self.tree.has(name) else None

    def members(self) -> tuple[str, ...]:
        """Names of the files that make up this artifact."""
        return self.tree.names()

    def identities(self) -> tuple[FileIdentity, ...]:
        """Which files on this machine these are."""
        return tuple(self.tree.identity(name) for name in self.members())

    def content_digest(self) -> Digest:
        """The digest of everything in it: what a person approves when they declare it a truth."""
        parts: list[bytes] = []
        for name in self.members():
            parts += [name.encode(), self._file_digest(name).hex.encode()]
        return Digest.of_parts(*parts)

    def _place_digest(self, kind: str, name: str) -> Digest:
        """Of a file's length, or of which file of this machine it is: neither reads its bytes."""
        if not self.tree.has(name):
            return ABSENT
        at = self.tree.identity(name)
        return Digest.of((f"{at.size}" if kind == "size" else f"{at.device}:{at.inode}").encode())

    def _file_digest(self, name: str) -> Digest:
        return digest_file(self.tree.open(name)) if self.tree.has(name) else ABSENT
