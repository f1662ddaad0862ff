"""Progress on stderr: each probe's answer as it comes, and how far the slow ones are."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence

from hypotree.artifact.plain import plain
from hypotree.cli.echo import talk
from hypotree.diagnosis.run import Outcome, Watcher

_EVERY_SECONDS = 0.2
_MIB = 1024 * 1024


class Progress(Watcher):
    """One line for each probe that ended; on a terminal a last line with what is still running."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._lock = threading.Lock()
        self._drawn_at = 0.0
        self._is_live = sys.stderr.isatty()

    def planned(self, probes: Sequence[str]) -> None:
        """All that will run."""
        self._waiting = list(probes)

    def advanced(self, probe: str, done: int, total: int) -> None:
        """Called from the probes' threads."""
        with self._lock:
            now = time.monotonic()
            if self._is_live and now - self._drawn_at > _EVERY_SECONDS:
                self._drawn_at = now
                share = (
                    f"{done // _MIB} of {total // _MIB} MiB" if total > _MIB else f"{done}/{total}"
                )
                sys.stderr.write(f"\r\x1b[K  {probe}: {share}")
                sys.stderr.flush()

    def ended(self, outcome: Outcome) -> None:
        """Its summary at once: header-level answers come first."""
        with self._lock:
            self._waiting.remove(outcome.probe.name)
            if self._is_live:
                sys.stderr.write("\r\x1b[K")
            if outcome.evidence:
                seconds = sum(e.seconds for e in outcome.evidence)
                summary = outcome.evidence[0].summary or "done"
                talk(f"  {outcome.probe.name:<15} {plain(summary, 110)} ({seconds:.2f} s)")
            if self._is_live and self._waiting:
                sys.stderr.write(f"  … {', '.join(self._waiting)}")
                sys.stderr.flush()

    def asking(self, faults: Sequence[str]) -> None:
        """The gate puts the probe to its own planted faults first, which may take a while."""
        talk(f"  asking the gate about the fix of {plain(', '.join(faults), 200)}")
