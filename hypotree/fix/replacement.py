"""What a swap is given: the files to replace, each with its undo pack on disk already."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hypotree.artifact.files import DiskFile
from hypotree.digest import ABSENT, Digest
from hypotree.errors import RefusedError, ToolError
from hypotree.fix.in_place import need_in_place
from hypotree.fix.reads import differing_reads
from hypotree.fix.segments import SegmentedFile
from hypotree.fix.staged_tree import StagedTree
from hypotree.fix.undo import UndoStore
from hypotree.gate.decision import Permit
from hypotree.model.evidence import Read
from hypotree.model.fix import FileSwap

#: How a `FileSwap` is called whose bytes went into the file itself.
IN_PLACE = "in-place"


@dataclass(frozen=True)
class Replacement:
    """One file to be replaced; swapped only once its undo pack is on disk."""

    path: Path
    staged: SegmentedFile
    before: tuple[Read, ...]
    after: tuple[Read, ...]
    pack: Digest
    in_place: bool = False
    """Whether changed ranges are written into the file itself."""

    def record(self) -> FileSwap:
        """The journal's value for it."""
        return FileSwap(
            str(self.path), self.before, self.after, self.staged.base.size, self.staged.size,
            self.pack, IN_PLACE if self.in_place else "reflink-or-copy", self.staged.fresh_bytes,
        )  # fmt: skip


def prepare(permit: Permit, staged: StagedTree, undo: UndoStore) -> tuple[Replacement, ...]:
    """Put the undo packs of a permitted plan on disk; nothing else is written yet."""
    return with_packs(planned(permit, staged), undo)


def planned(
    permit: Permit, staged: StagedTree, *, in_place: bool = False
) -> tuple[Replacement, ...]:
    """The replacements of a permitted plan, before anything is written: they have no packs yet.

    In place go weights only: a config is small, and its length changes.
    """
    Permit.check(permit)
    replacements = []
    for file in permit.plan.files:
        view, inside = staged.staged[file.name], in_place and file.name.endswith(".safetensors")
        if inside:
            need_in_place(view, Path(file.path))
        replacements.append(
            Replacement(Path(file.path), view, file.based_on, file.after, ABSENT, inside)
        )
    return tuple(replacements)


def with_packs(replacements: tuple[Replacement, ...], undo: UndoStore) -> tuple[Replacement, ...]:
    """The same, their undo packs on disk."""
    with machine_errors("keeping the old bytes for an undo"):
        return tuple(replace(r, pack=undo.keep(r.staged)) for r in replacements)


def prepare_undo(
    swaps: tuple[FileSwap, ...], undo: UndoStore, *, keep: bool = True
) -> tuple[Replacement, ...]:
    """The replacements that put `swaps` back; a conflict if a file is not as they left it.

    With `keep` the undo can itself be undone: its own packs are written.
    """
    return tuple(_inverse(swap, undo, keep=keep) for swap in swaps)


def _inverse(swap: FileSwap, undo: UndoStore, *, keep: bool) -> Replacement:
    path = Path(swap.path)
    if conflicts := differing_reads(path, swap.after):
        raise RefusedError(
            f"undoing the change of {path}",
            f"it is not as that change left it: {'; '.join(conflicts)}",
            "undo what came later first, or restore by hand from the undo pack",
        )
    with machine_errors(f"keeping the bytes of {path} for a redo"):
        view = undo.restore(swap.pack, DiskFile(path))
        pack = undo.keep(view) if keep else swap.pack
    return Replacement(path, view, swap.after, swap.before, pack, swap.method == IN_PLACE)


@contextlib.contextmanager
def machine_errors(asked: str) -> Iterator[None]:
    """What the operating system refuses (no space, no right, a bad disk) as a `ToolError`."""
    try:
        yield
    except OSError as error:
        found = error.strerror or str(error) or type(error).__name__
        raise ToolError(asked, found, "nothing is lost; mend that and try again") from error
