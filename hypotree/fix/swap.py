"""Replace artifacts: the only module that may, and only with a Permit or to put back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypotree.atomic import sync_folder
from hypotree.errors import HypotreeError, ToolError
from hypotree.fix.in_place import Ranges, new_ranges, old_ranges, write_ranges
from hypotree.fix.reads import changed_reads
from hypotree.fix.recheck import changed, moved, refuse_stale, refuse_unsafe
from hypotree.fix.replacement import Replacement, machine_errors
from hypotree.fix.segments import Kept, SegmentedFile
from hypotree.fix.sibling import difference, leftovers, write_beside
from hypotree.gate.decision import Permit

#: Called under the lock right before the first replace: names of what changed since the permit.
Recheck = Callable[[], tuple[str, ...]]


@dataclass(frozen=True)
class _Sibling:
    """A new file that is ready, which inode it is, and the old file's stamp before it was copied."""

    replacement: Replacement
    path: Path
    inode: tuple[int, int]
    stamp: tuple[int, int]


def swap(
    replacements: tuple[Replacement, ...],
    permit: Permit | None,
    recheck: Recheck,
    tag: str = "swap",
) -> None:
    """Replace every file or none; without a permit only what was replaced before is put back.

    The caller holds `hypotree.fix.lock.locked` on every path. All new files are
    durable, and compared with their views, before the first old one goes; `tag`
    marks them while they wait.
    """
    if permit is not None:
        _check(replacements, permit)
    paths = {str(r.path) for r in replacements}
    siblings: list[_Sibling] = []
    inside = [(r.path, old_ranges(r.staged)) for r in replacements if r.in_place]
    begun = False
    try:
        with machine_errors(f"replacing {', '.join(sorted(paths))}"):
            refuse_stale(change for r in replacements for change in moved(r))
            refuse_unsafe(replacements)
            for replacement in replacements:
                if not replacement.in_place:
                    siblings.append(_written(replacement, tag))  # noqa: PERF401 - the list must hold each at once
            for replacement in replacements:
                refuse_stale((*moved(replacement), *changed(replacement)))
            refuse_stale(recheck())
            begun = True
            for replacement in replacements:
                if replacement.in_place:
                    write_ranges(replacement.path, new_ranges(replacement.staged))
            for sibling in siblings:
                refuse_stale(_overtaken(sibling))
                os.replace(sibling.path, sibling.replacement.path)
            _confirm(replacements)
    except BaseException as error:
        if begun:
            _put_ranges_back(inside, error)
        _back_out(replacements, siblings, tag, error)
        raise


def _put_ranges_back(inside: list[tuple[Path, Ranges]], error: BaseException) -> None:
    """The old bytes of files that were written in place."""
    try:
        for path, ranges in inside:
            write_ranges(path, ranges)
    except OSError as worse:
        raise ToolError(
            "putting back",
            f"{worse.strerror or worse}",
            "open the session again: its pack is on disk",
        ) from error


def _check(replacements: tuple[Replacement, ...], permit: Permit) -> None:
    """That the permit is one, and that these are its files with the bytes that it names."""
    Permit.check(permit)
    permitted = [(Path(f.path), f.based_on, f.after) for f in permit.plan.files]
    if permitted != [(r.path, r.before, r.after) for r in replacements]:
        raise ToolError("replacing files", "they are not the ones that the permit names")


def _written(replacement: Replacement, tag: str) -> _Sibling:
    """The new file beside the old one, read again and compared with the view, all of it."""
    stamp = _stamp(replacement.path)
    path = write_beside(replacement.path, replacement.staged, tag)
    status = path.stat()
    sibling = _Sibling(replacement, path, (status.st_dev, status.st_ino), stamp)
    if found := difference(path, replacement.staged):
        refuse_stale(_overtaken(sibling))
        raise ToolError(f"verifying {path}", found, "the disk may be bad; nothing was replaced")
    return sibling


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _overtaken(sibling: _Sibling) -> tuple[str, ...]:
    """Whether somebody wrote into the old file while it was copied; a mere touch is no change."""
    replacement = sibling.replacement
    if gone := moved(replacement):
        return gone
    if _stamp(replacement.path) == sibling.stamp:
        return ()
    found = difference(sibling.path, replacement.staged)
    return (f"{replacement.path} ({found})",) if found else ()


def _confirm(replacements: tuple[Replacement, ...]) -> None:
    """Make the new names durable and read the new files where they are now."""
    for folder in sorted({r.path.parent for r in replacements if not r.in_place}):
        sync_folder(folder)
    for replacement in replacements:
        if wrong := changed_reads(replacement.path, replacement.after):
            raise ToolError(
                f"replacing {replacement.path}", f"read back differently: {', '.join(wrong)}"
            )


def _back_out(
    replacements: tuple[Replacement, ...], siblings: list[_Sibling], tag: str, error: BaseException
) -> None:
    """Old files back where new ones are in place, and no sibling left over."""
    stuck = [str(s.replacement.path) for s in siblings if _is_in_place(s) and not _put_back(s, tag)]
    for replacement in replacements:
        with contextlib.suppress(OSError):
            for leftover in leftovers(replacement.path, tag):
                leftover.unlink()
    if stuck:
        raise ToolError(
            "putting back", f"{', '.join(stuck)} is still the new file",
            "open the session again: it puts back what it can",
        ) from error  # fmt: skip


def _is_in_place(sibling: _Sibling) -> bool:
    try:
        status = sibling.replacement.path.lstat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == sibling.inode


def _put_back(sibling: _Sibling, tag: str) -> bool:
    """The old file again, from the view's own base, which still holds the replaced inode open."""
    path, old = sibling.replacement.path, sibling.replacement.staged.base
    try:
        os.replace(write_beside(path, SegmentedFile(old, (Kept(0, old.size),)), tag), path)
        sync_folder(path.parent)
    except (HypotreeError, OSError):
        return not _is_in_place(sibling)
    return True
