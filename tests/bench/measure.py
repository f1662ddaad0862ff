"""Time whole processes in turn, A B A B, and print their ratio: a benchmark, never a test."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field


@dataclass
class Runs:
    """Wall seconds and peak resident KB of every run of one command."""

    seconds: list[float] = field(default_factory=list)
    peak_kb: list[int] = field(default_factory=list)

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
            seconds, peak = _once(command)
            if round_:
                result.seconds.append(seconds)
                result.peak_kb.append(peak)
    return results


def _once(command: list[str]) -> tuple[float, int]:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env)
    _, _, usage = os.wait4(child.pid, 0)
    return time.perf_counter() - started, usage.ru_maxrss


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
