"""Jobs: probes that run one after the other, each in a process of its own that can be stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from hypotree.model.event import Actor

State = Literal["waiting", "running", "done", "failed", "stopped"]


@dataclass(frozen=True)
class Job:
    """One run and how far it is."""

    node: str
    state: State = "waiting"
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    said: str = ""


class Jobs:
    """A queue with one runner thread; `changed` is called on it with the job that moved."""

    def __init__(self, folder: Path, actor: Actor, changed: Callable[[Job], object]) -> None:
        self._folder, self._actor, self._changed = folder, actor, changed
        self._waiting: deque[str] = deque()
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._thread: Thread | None = None
        self._stopped = False
        self.current: Job | None = None

    @property
    def waiting(self) -> tuple[str, ...]:
        """What is still to be run."""
        return tuple(self._waiting)

    def add(self, nodes: Iterable[str]) -> int:
        """Queue nodes that are not queued yet; returns how many."""
        with self._lock:
            new = [n for n in dict.fromkeys(nodes) if n not in self._waiting]
            self._waiting.extend(new)
            self._stopped = False
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._work, name="hypotree-jobs", daemon=True)
                self._thread.start()
        return len(new)

    def stop(self) -> int:
        """Drop what waits and end what runs; nothing that was not sealed is recorded."""
        with self._lock:
            count = len(self._waiting) + (self.current is not None)
            self._waiting.clear()
            self._stopped = True
            if self._process is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
        return count

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                node = self._waiting.popleft()
                self.current = Job(node, "running")
            ended = self._run(self.current)
            self.current = None
            self._changed(ended)

    def _run(self, job: Job) -> Job:
        started = time.monotonic()
        command = [sys.executable, "-m", "hypotree.tui.job", str(self._folder), job.node]
        with subprocess.Popen(
            [*command, self._actor.kind, self._actor.name], text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            self._process = process
            self._changed(job)
            for text in process.stdout or ():
                job = heard(job, text, time.monotonic() - started)
                self.current = job if job.state == "running" else self.current
                self._changed(job)
        self._process = None
        if job.state == "running":
            state: State = "stopped" if self._stopped else "failed"
            said = "" if self._stopped else f"its process ended with status {process.returncode}"
            job = replace(job, state=state, said=said)
        return replace(job, seconds=time.monotonic() - started)


def heard(job: Job, text: str, seconds: float) -> Job:
    """The job after one line from its process; what is no such line is left unheard."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return job
    if not isinstance(value, dict):
        return job
    if "error" in value:
        return replace(job, state="failed", said=str(value["error"]), seconds=seconds)
    if "ended" in value:
        return replace(job, state="done", said=str(value["ended"]), seconds=seconds)
    done, total = value.get("done"), value.get("total")
    if isinstance(done, int) and isinstance(total, int):
        return replace(job, done=done, total=total, seconds=seconds)
    return job


def job_text(job: Job, waiting: int) -> str:
    """One line on what runs: bytes, share, time left."""
    parts = [f"running {job.node}"]
    if job.total > 0:
        parts.append(f"{_size(job.done)} of {_size(job.total)} ({100 * job.done // job.total} %)")
    left = time_left(job)
    parts.append(f"{left:.0f} s left" if left is not None else f"{job.seconds:.0f} s")
    if waiting:
        parts.append(f"{waiting} more wait")
    return ", ".join(parts) + "; x stops"


def time_left(job: Job) -> float | None:
    """Seconds to go at the pace so far; None while there is no pace."""
    if job.done <= 0 or job.total <= 0 or job.seconds <= 0:
        return None
    return max(job.total - job.done, 0) * job.seconds / job.done


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
