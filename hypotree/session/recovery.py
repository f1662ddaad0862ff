"""After a failure: which of the files of a started swap are new, and make it all or nothing."""

from __future__ import annotations

import os
from pathlib import Path

from hypotree.artifact.files import DiskFile
from hypotree.digest import Digest
from hypotree.errors import HypotreeError
from hypotree.fix.in_place import new_ranges, write_ranges
from hypotree.fix.lock import BusyError, locked
from hypotree.fix.reads import changed_reads
from hypotree.fix.replacement import IN_PLACE, prepare_undo
from hypotree.fix.sibling import leftovers
from hypotree.fix.swap import swap
from hypotree.model.event import Actor, SwapAbandoned, SwapStarted
from hypotree.model.fix import FileSwap
from hypotree.session.core import SessionCore

_RECOVERY = Actor("cli", "recovery")


def recover(core: SessionCore) -> tuple[str, ...]:
    """Settle every swap that was started and never ended; one sentence on each.

    A swap whose files another process holds is that process's own affair. What
    cannot be settled now is said, and tried again at the next start.
    """
    if core.journal.is_broken:
        return ()
    found = (_recovered(core, started) for started in tuple(core.state.started.values()))
    return tuple(sentence for sentence in found if sentence)


def _recovered(core: SessionCore, started: SwapStarted) -> str:
    try:
        with locked((Path(s.path) for s in started.swaps), seconds=0):
            core.refresh()
            if started.id not in core.state.started:
                return ""
            return settle(core, started)
    except BusyError:
        return ""
    except (HypotreeError, OSError) as error:
        return f"swap {started.id} was interrupted and is not settled: {error}"


def settle(core: SessionCore, started: SwapStarted, why: str = "interrupted") -> str:
    """Put the old files back, so that the journal's last word on them holds again; says what was done.

    The caller holds the lock on them.
    """
    tag = sibling_tag(core, started.id)
    mixed = tuple(s for s in started.swaps if s.method == IN_PLACE and not _is(s, new=False))
    for file in mixed:
        view = core.undo.restore(file.pack, DiskFile(Path(file.path)))
        write_ranges(Path(file.path), new_ranges(view))
    # A sibling that is still there was not put in place, whatever the file holds by now.
    waiting = {s.path: leftovers(Path(s.path), tag) for s in started.swaps}
    new = tuple(s for s in started.swaps if not waiting[s.path] and _is(s, new=True))
    old = tuple(s for s in started.swaps if s not in new and (waiting[s.path] or _is(s, new=False)))
    for leftover in (path for found in waiting.values() for path in found):
        leftover.unlink(missing_ok=True)
    if len(new) + len(old) < len(started.swaps):
        names = ", ".join(s.path for s in started.swaps if s not in new and s not in old)
        return f"swap {started.id} was interrupted, and {names} is neither the old nor the new file"
    if new:
        swap(prepare_undo(new, core.undo, keep=False), None, lambda: (), tag)
    done = f"{len(new) + len(mixed)} of {len(started.swaps)} files were new and were put back"
    core.append(SwapAbandoned(started.id, f"{why}; {done}"), _RECOVERY)
    return f"swap {started.id} was interrupted; {done}"


def sibling_tag(core: SessionCore, swap_id: str) -> str:
    """What marks the waiting files of one swap of one session."""
    return Digest.of_parts(os.fsencode(core.folder.resolve()), swap_id.encode()).hex[:8]


def _is(file: FileSwap, *, new: bool) -> bool:
    try:
        return not changed_reads(Path(file.path), file.after if new else file.before)
    except HypotreeError:
        return False
