"""Scan the header of every shard: what it holds, and what is wrong, without ever giving up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hypotree.artifact.broken import header_digest
from hypotree.artifact.safetensors_canonical import canonical_names
from hypotree.artifact.safetensors_header import HeaderFault, HeaderScan, scan_header
from hypotree.artifact.safetensors_json import FaultFoundError, frame
from hypotree.digest import Digest
from hypotree.errors import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree.artifact.files import ByteFile

#: After these the list of names is not to be trusted, nor where the last tensor ends.
_BLINDING: Final = frozenset({"bad-header", "over-limit", "duplicate-key", "bad-tensor"})
_LFS: Final = b"version https://git-lfs"


@dataclass(frozen=True)
class Shard:
    """One file as far as its header tells."""

    name: str
    size: int
    tensors: tuple[str, ...] | None
    """The tensors that it holds; None if that cannot be told."""
    faults: tuple[HeaderFault, ...] = ()
    unreadable: str = ""
    """Why it could not be opened; "" if it could."""

    @property
    def is_cut(self) -> bool:
        """Whether the file ends before what its header promises."""
        return any(fault.problem == "truncated" for fault in self.faults)

    @property
    def is_bad(self) -> bool:
        """Whether its header contradicts the format in any other way."""
        return any(fault.problem != "truncated" for fault in self.faults)

    @property
    def length_is_known(self) -> bool:
        """Whether the promised length could be compared with the file's."""
        return not self.unreadable and not any(f.problem in _BLINDING for f in self.faults)

    @property
    def header_is_known(self) -> bool:
        """Whether there was a whole header to judge."""
        return not self.unreadable and (self.tensors is not None or self.is_bad)


def scan_shards(draft: Checkpoint) -> Iterator[Shard]:
    """Every shard that is there; notes the header and the length of each, and which there are."""
    draft.note("shard-names", "", draft.digest_of("shard-names", ""))
    for name in draft.shard_names():
        yield _scan(draft, name)


def _scan(draft: Checkpoint, name: str) -> Shard:
    try:
        file = draft.tree.open(name)
        draft.note("size", name, Digest.of(str(file.size).encode()))
        if (sound := _sound(draft, name, file)) is not None:
            return Shard(name, file.size, sound)
        scan = scan_header(file)
        draft.note(
            "header", name, Digest.of(scan.header.raw) if scan.header else header_digest(file)
        )
        faults = tuple(_explained(file, fault) for fault in scan.faults)
    except UnreadableError as error:
        return Shard(name, 0, None, unreadable=error.found)
    return Shard(name, file.size, _names(scan), faults)


def _sound(draft: Checkpoint, name: str, file: ByteFile) -> tuple[str, ...] | None:
    """The names in a header that is sound at first sight; None: look closer."""
    try:
        raw = frame(file)
    except FaultFoundError:
        return None
    names = canonical_names(raw, file.size)
    if names is not None:
        draft.note("header", name, Digest.of(raw))
    return names


def _names(scan: HeaderScan) -> tuple[str, ...] | None:
    if scan.header is None or any(fault.problem in _BLINDING for fault in scan.faults):
        return None
    return tuple(scan.header.tensors)


def _explained(file: ByteFile, fault: HeaderFault) -> HeaderFault:
    """The fault, with what to do about a pointer that git left in the file's place."""
    if file.size < len(_LFS) or file.read(0, len(_LFS)) != _LFS:
        return fault
    return HeaderFault("bad-header", "it is a Git-LFS pointer, not the file", "run git lfs pull")
