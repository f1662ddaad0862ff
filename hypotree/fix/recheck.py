"""The gate's questions about the target, asked again under the lock: much can happen in between."""

from __future__ import annotations

import os
from collections.abc import Iterable

from hypotree.errors import HypotreeError, RefusedError
from hypotree.fix.reads import changed_reads
from hypotree.fix.replacement import Replacement
from hypotree.fix.sibling import on_disk
from hypotree.fix.target import space_reasons, unsafe_reasons
from hypotree.fix.users import mappers_of
from hypotree.model.refusal import RefusalCode


class SwapRefusedError(RefusedError):
    """What the gate let through is no longer so; nothing was replaced."""

    def __init__(self, refusal: RefusalCode, found: str, next_step: str) -> None:
        self.refusal = refusal
        super().__init__("replacing files", f"{refusal}: {found}", next_step)


def refuse_late_changes(replacements: tuple[Replacement, ...]) -> None:
    """All that can be asked under the lock before anything is written or journaled.

    A start in the journal thus means that the old files were there: what is new later is its doing.
    """
    for replacement in replacements:
        refuse_stale((*moved(replacement), *changed(replacement)))
    refuse_unsafe(replacements)


def refuse_unsafe(replacements: tuple[Replacement, ...]) -> None:
    """A link may have been made since the gate looked, and an undo meets no gate at all."""
    reasons = [reason for r in replacements for reason in unsafe_reasons(r.path)]
    reasons += space_reasons((r.path, r.staged.size) for r in replacements if not r.in_place)
    # A reader that maps a file keeps the old one when it is replaced; in place it would see a mix.
    reasons += [
        f"{r.path} is in use: {user}; stop it, or apply without --in-place"
        for r in replacements
        if r.in_place
        for user in mappers_of(r.path)
    ]
    if reasons:
        raise SwapRefusedError(
            RefusalCode.UNSAFE_TARGET, "; ".join(reasons), "work on a plain copy of your own"
        )


def refuse_stale(changes: Iterable[str]) -> None:
    """`SwapRefusedError` if there are any."""
    if changed := ", ".join(changes):
        raise SwapRefusedError(
            RefusalCode.STALE_ARTIFACT,
            f"changed while the fix was made: {changed}",
            "run the probe again and plan anew",
        )


def moved(replacement: Replacement) -> tuple[str, ...]:
    """Whether the name leads to another file, or one of another length, than the view is over."""
    path, base = replacement.path, on_disk(replacement.staged)
    try:
        now, then = path.lstat(), os.fstat(base.fileno())
    except OSError as error:
        return (f"{path} itself ({error.strerror})",)
    if (now.st_dev, now.st_ino) != (then.st_dev, then.st_ino):
        return (f"{path} itself (it was replaced)",)
    if now.st_size != base.size:
        return (f"{path} itself (it has {now.st_size} bytes, it had {base.size})",)
    return ()


def changed(replacement: Replacement) -> tuple[str, ...]:
    """What the view was made from and is not so any more."""
    try:
        return changed_reads(replacement.path, replacement.before)
    except HypotreeError as error:
        return (f"{replacement.path} itself ({error.found})",)
