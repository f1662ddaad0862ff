"""Questions that can be asked of a checkpoint's files however broken they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypotree.artifact.safetensors_json import MAX_HEADER_BYTES
from hypotree.digest import Digest

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile, FileTree

#: A length of eight bytes, and the byte after it, which must be the header's brace.
_START = 9


def header_digest(file: ByteFile) -> Digest:
    """The digest of a header's own bytes; of the file's first nine bytes if there is no header.

    For a sound file this is `Digest.of(Header.raw)`, so evidence on a header stays comparable
    when the file breaks or is repaired.
    """
    start = file.read(0, min(file.size, _START))
    length = int.from_bytes(start[:8], "little")
    if file.size < 8 or length > MAX_HEADER_BYTES or 8 + length > file.size:
        return Digest.of_parts(b"no header", start)
    return Digest.of(file.read(8, length))


def same_files(tree: FileTree, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Those of `names` that lead to one and the same file (a link of either kind), in groups."""
    groups: dict[tuple[int, int], list[str]] = {}
    for name in names:
        at = tree.identity(name)
        groups.setdefault((at.device, at.inode), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
