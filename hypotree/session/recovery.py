"""After a crash: which of the files of a started swap are new, and make it all or nothing."""

from __future__ import annotations

from pathlib import Path

from hypotree.errors import HypotreeError, ToolError
from hypotree.fix.plan import changed_reads
from hypotree.fix.swap import prepare_undo, swap
from hypotree.model.event import Actor, SwapAbandoned, SwapStarted
from hypotree.model.fix import FileSwap
from hypotree.session.core import SessionCore

_RECOVERY = Actor("cli", "recovery")


def recover(core: SessionCore) -> tuple[str, ...]:
    """Settle every swap that was started and never ended; one sentence on each.

    A swap that another living process is in the midst of is its own to end.
    """
    if core.journal.is_broken or not core.state.started:
        return ()
    try:
        with core.swapping(0):
            return tuple(_settle(core, started) for started in tuple(core.state.started.values()))
    except ToolError as error:
        return (error.found,)


def _settle(core: SessionCore, started: SwapStarted) -> str:
    """The old files are put back, so that the journal's last word on them holds again."""
    new = tuple(s for s in started.swaps if _is(s, new=True))
    old = tuple(s for s in started.swaps if not _is(s, new=True) and _is(s, new=False))
    for leftover in _leftovers(started):
        leftover.unlink(missing_ok=True)
    if len(new) + len(old) < len(started.swaps):
        names = ", ".join(s.path for s in started.swaps if s not in new and s not in old)
        return f"swap {started.id} was interrupted, and {names} is neither the old nor the new file"
    if new:
        swap(prepare_undo(new, core.undo), None, lambda: ())
    why = f"interrupted; {len(new)} of {len(started.swaps)} files were new and were put back"
    core.append(SwapAbandoned(started.id, why), _RECOVERY)
    return f"swap {started.id} was {why}"


def _is(file: FileSwap, *, new: bool) -> bool:
    try:
        return not changed_reads(Path(file.path), file.after if new else file.before)
    except HypotreeError:
        return False


def _leftovers(started: SwapStarted) -> list[Path]:
    """Siblings that the swap had written and not yet put in place."""
    return [
        leftover
        for file in started.swaps
        for leftover in Path(file.path).parent.glob(f".{Path(file.path).name}.hypotree-*")
    ]
