"""Where to look for what belongs to a drafter: near it, boundedly, and in no other run's folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: How far up from the drafter's folder, and how deep below each folder on that way.
MAX_UP: Final = 2
MAX_DEPTH: Final = 3
#: Directory entries looked at in all: a shared disk is not walked.
MAX_ENTRIES: Final = 5_000
_SKIPPED: Final = frozenset(
    {"site-packages", "node_modules", "__pycache__", "blobs", "refs", "undo"}
)
_WEIGHTS: Final = (".safetensors", ".bin")
_DRAFTER_WORDS: Final = (b'"draft_vocab_size"', b"Eagle3", b'"speculators_model_type"')
_CONFIG_BYTES: Final = 64 * 1024


@dataclass(frozen=True)
class Place:
    """A file near the drafter, and how many folders lie between."""

    path: Path
    distance: int


class Surroundings:
    """The files around one checkpoint folder, nearest first, and the folders on the way up."""

    def __init__(self, draft: Path) -> None:
        self.folder = draft if draft.is_dir() else draft.parent
        self.ancestors = tuple(_ancestors(self.folder))
        self.left = MAX_ENTRIES

    def files(self) -> list[Place]:
        """Every file; a branch that holds another drafter is another run's, and left out."""
        found: list[Place] = []
        below: Path | None = None
        for up, folder in enumerate([self.folder, *self.ancestors]):
            found += self._level(folder, up, below)
            below = folder
        return sorted(found, key=lambda place: (place.distance, str(place.path)))

    def drafters_below(self) -> list[Path]:
        """Folders below this one that hold a drafter's config and weights."""
        return [f for f in _folders(self.folder, MAX_DEPTH + 1, self) if holds_drafter(f)]

    def _level(self, folder: Path, up: int, below: Path | None) -> Iterator[Place]:
        for entry in self.entries(folder):
            path = folder / entry.name
            if not entry.is_dir(follow_symlinks=False):
                if entry.is_file():
                    yield Place(path, up)
            elif path != below:
                yield from self._branch(path, up + 1)

    def _branch(self, folder: Path, distance: int) -> list[Place]:
        found: list[Place] = []
        for inner in _folders(folder, MAX_DEPTH, self):
            if holds_drafter(inner):
                return []
            depth = len(inner.relative_to(folder).parts)
            found += [
                Place(inner / e.name, distance + depth) for e in self.entries(inner) if e.is_file()
            ]
        return found

    def entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """What lies in a folder, hidden things left out; nothing once the bound is reached."""
        try:
            with os.scandir(folder) as entries:
                found = [e for _, e in zip(range(max(self.left, 0)), entries, strict=False)]
        except OSError:
            return []
        self.left -= len(found)
        return sorted((e for e in found if not e.name.startswith(".")), key=lambda e: e.name)


def holds_drafter(folder: Path) -> bool:
    """Whether a folder holds weights and a config that calls itself a drafter's."""
    try:
        with (folder / "config.json").open("rb") as file:
            text = file.read(_CONFIG_BYTES)
        names = os.listdir(folder)
    except OSError:
        return False
    has_weights = any(name.endswith(_WEIGHTS) for name in names)
    return has_weights and any(word in text for word in _DRAFTER_WORDS)


def in_hub_cache(path: Path) -> Path:
    """The snapshot meant by a hub-cache folder (`models--org--name`); any other path as it is."""
    snapshots = path / "snapshots"
    if not snapshots.is_dir():
        return path
    try:
        revision = (path / "refs" / "main").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        revision = ""
    if revision.isalnum() and (snapshots / revision).is_dir():
        return snapshots / revision
    found = sorted(p for p in snapshots.iterdir() if p.is_dir())
    return max(found, key=lambda p: p.stat().st_mtime) if found else path


def _folders(top: Path, depth: int, around: Surroundings) -> Iterator[Path]:
    yield top
    if depth:
        for entry in around.entries(top):
            path = top / entry.name
            is_venv = entry.is_dir() and (path / "pyvenv.cfg").exists()
            if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED and not is_venv:
                yield from _folders(path, depth - 1, around)


def _ancestors(folder: Path) -> Iterator[Path]:
    """Up to `MAX_UP` folders above, but never a home, a scratch root or the top of a disk."""
    here = folder.resolve()
    shared = {Path("/"), Path.home(), Path(tempfile.gettempdir()).resolve()}
    for up, parent in enumerate(here.parents):
        if up == MAX_UP or parent in shared or (up and len(parent.parts) < 3):
            return
        yield parent
        if (parent / ".git").exists():
            return
