"""Whether something that is to serve as a truth is the draft itself: a link to it, or a copy."""

from __future__ import annotations

from pathlib import Path

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.files import DiskFile, FileIdentity
from hypotree.artifact.kinds import open_artifact
from hypotree.digest import digest_file
from hypotree.errors import HypotreeError


def dependence(kind: str, locator: str, draft: Path) -> str:
    """How the artifact depends on the draft, in words; "" if it does not or cannot be read."""
    ours = _weights(_identities(Checkpoint, draft))
    try:
        theirs = open_artifact(kind, locator).identities()
    except (HypotreeError, OSError):
        return ""
    for one in theirs:
        for other in ours:
            if (one.device, one.inode) == (other.device, other.inode):
                return f"it is the draft's own {Path(other.path).name}, by another name"
            if one.size == other.size and one.size and _same_bytes(one, other):
                return f"it is a copy of the draft's {Path(other.path).name}"
    return ""


def _identities(kind: type[Artifact], path: Path) -> tuple[FileIdentity, ...]:
    try:
        return kind(str(path)).identities()
    except (HypotreeError, OSError):
        return ()


def _weights(files: tuple[FileIdentity, ...]) -> tuple[FileIdentity, ...]:
    """Draft and target rightly share a tokenizer; weights they do not."""
    return tuple(f for f in files if not f.path.endswith(".json"))


def _same_bytes(one: FileIdentity, other: FileIdentity) -> bool:
    try:
        return digest_file(DiskFile(Path(one.path))) == digest_file(DiskFile(Path(other.path)))
    except (HypotreeError, OSError):
        return False
