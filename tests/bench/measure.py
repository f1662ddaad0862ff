"""Time whole processes in turn, A B A B, and print their ratio: a benchmark, never a test."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Once:
    """One run of one command."""

    seconds: float
    peak_kb: int
    bytes_written: int
    """As the kernel counts them for the process: to the page cache, copies inside the kernel included."""


@dataclass
class Runs:
    """Wall seconds and peak resident KB of every run of one command."""

    seconds: list[float] = field(default_factory=list)
    peak_kb: list[int] = field(default_factory=list)

    def add(self, run: Once) -> None:
        """Count one more run."""
        self.seconds.append(run.seconds)
        self.peak_kb.append(run.peak_kb)

    def line(self, name: str) -> str:
        low, high = min(self.seconds), max(self.seconds)
        middle = statistics.median(self.seconds)
        peak = max(self.peak_kb) / 1024
        return f"{name:<28} {middle * 1000:9.1f} ms [{low * 1000:.1f}..{high * 1000:.1f}]  {peak:7.1f} MiB"


def alternate(ours: list[str], theirs: list[str], runs: int = 5) -> tuple[Runs, Runs]:
    """Run both commands in turn, once each to warm up."""
    results = (Runs(), Runs())
    for round_ in range(runs + 1):
        for result, command in zip(results, (ours, theirs), strict=True):
            run = once(command)
            if round_:
                result.add(run)
    return results


def once(command: list[str]) -> Once:
    """Run a command to its end; its exit code is its own affair."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    seconds = time.perf_counter() - started
    written = _bytes_written(child.pid)
    _, _, usage = os.wait4(child.pid, 0)
    return Once(seconds, usage.ru_maxrss, written)


def _bytes_written(pid: int) -> int:
    """`write_bytes` of a process that ended and was not waited for yet; 0 where it cannot be read."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(x.split()[1]) for x in lines if x.startswith("write_bytes")), 0)


def report(title: str, ours: Runs, theirs: Runs, names: tuple[str, str], goal: str) -> None:
    time_ratio = statistics.median(theirs.seconds) / statistics.median(ours.seconds)
    memory_ratio = max(theirs.peak_kb) / max(ours.peak_kb)
    lines = [
        title,
        "  " + ours.line(names[0]),
        "  " + theirs.line(names[1]),
        f"  {time_ratio:.1f} times faster, {memory_ratio:.1f} times less memory (goal: {goal})",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
