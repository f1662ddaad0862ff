"""Undo packs: what is needed to turn the new file back into the old one, stored by digest."""

from __future__ import annotations

from pathlib import Path

import msgspec

from hypotree.artifact.files import ByteFile, DiskFile
from hypotree.atomic import sync_folder, write_file
from hypotree.digest import Digest, digest_file
from hypotree.errors import MalformedError, UnknownNameError
from hypotree.fix.segments import Fresh, Kept, Segment, SegmentedFile
from hypotree.model.wire import canonical_json, decode


class _Recipe(msgspec.Struct, frozen=True):
    """The old file in order: [offset in the new file, length], or [-1, length] for the pack's bytes."""

    size: int
    pieces: tuple[tuple[int, int], ...]


class UndoStore:
    """The session's undo folder; a pack's name is the digest of its bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, staged: SegmentedFile) -> Digest:
        """Write, durably, the pack that undoes `staged`; only bytes that it drops are stored."""
        pieces, fresh = _inverse(staged)
        head = canonical_json(_Recipe(staged.base.size, pieces))
        data = len(head).to_bytes(8, "little") + head + fresh
        digest = Digest.of(data)
        if not self.folder.is_dir():
            self.folder.mkdir(exist_ok=True)
            sync_folder(self.folder.parent)
        write_file(self.folder / digest.hex, data, mode=0o600)
        return digest

    def restore(self, pack: Digest, current: ByteFile) -> SegmentedFile:
        """The old file as a view over the current one; `MalformedError` if the pack was changed."""
        path = self.folder / pack.hex
        if not path.is_file():
            raise UnknownNameError(f"undoing by pack {pack.short}", f"{path} is gone")
        file = DiskFile(path)
        if digest_file(file) != pack:
            raise MalformedError(f"undoing by pack {pack.short}", f"{path} was changed")
        length = int.from_bytes(file.read(0, 8), "little")
        recipe = decode(file.read(8, length), _Recipe, str(path))
        return SegmentedFile(current, tuple(_segments(recipe, file, 8 + length)))

    def sizes(self) -> dict[Digest, int]:
        """Every pack with its size in bytes."""
        if not self.folder.is_dir():
            return {}
        return {
            Digest(p.name): p.stat().st_size
            for p in sorted(self.folder.iterdir())
            if len(p.name) == 64
        }


def _segments(recipe: _Recipe, file: DiskFile, at: int) -> list[Segment]:
    result: list[Segment] = []
    for offset, length in recipe.pieces:
        if offset >= 0:
            result.append(Kept(offset, length))
        else:
            result.append(Fresh(file.read(at, length)))
            at += length
    return result


def _inverse(staged: SegmentedFile) -> tuple[tuple[tuple[int, int], ...], bytes]:
    """The old file's ranges in order: where the new file holds them, or their bytes."""
    kept: list[tuple[int, int, int]] = []
    position = 0
    for segment in staged.segments:
        if isinstance(segment, Kept):
            kept.append((segment.offset, segment.length, position))
        position += segment.length
    pieces: list[tuple[int, int]] = []
    fresh: list[bytes] = []
    at = 0
    for offset, length, where in sorted(kept):
        if offset > at:
            pieces.append((-1, offset - at))
            fresh.append(staged.base.read(at, offset - at))
        # A range that the new file holds twice is taken once.
        skip = max(at - offset, 0)
        if length > skip:
            pieces.append((where + skip, length - skip))
            at = offset + length
    if staged.base.size > at:
        pieces.append((-1, staged.base.size - at))
        fresh.append(staged.base.read(at, staged.base.size - at))
    return tuple(pieces), b"".join(fresh)
