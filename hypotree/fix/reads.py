"""Whether a file is still what a plan, or a swap, says of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.digest import Digest
from hypotree.model.evidence import Read


def current_digest(path: Path, read: Read) -> Digest:
    """What `read` of the file at `path` digests to now."""
    if path.suffix == ".safetensors":
        return Checkpoint(str(path)).digest_of(read.kind, read.name)
    return Artifact(str(path)).digest_of(read.kind, path.name if read.kind == "file" else read.name)


def changed_reads(path: Path, reads: Iterable[Read]) -> tuple[str, ...]:
    """Names of those reads that no longer digest to what they did."""
    return tuple(_name(read) for read in reads if current_digest(path, read) != read.sha256)


def differing_reads(path: Path, reads: Iterable[Read]) -> tuple[str, ...]:
    """The same, each with what it digests to and what it should."""
    return tuple(
        f"{_name(read)} is {now.short}…, was left as {read.sha256.short}…"
        for read in reads
        if (now := current_digest(path, read)) != read.sha256
    )


def _name(read: Read) -> str:
    return read.name if read.kind == "file" else f"{read.kind} {read.name}"
