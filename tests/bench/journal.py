"""How long 100,000 events take to read, check and fold; and one fsynced append. Prints, asserts nothing."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from hypotree.journal.codec import GENESIS, encode_record
from hypotree.journal.store import Journal
from hypotree.model.declaration import Hypothesis
from hypotree.model.event import Actor, Event, HypothesisAdded, NoteAdded
from hypotree.tree.replay import fold

EVENTS = 100_000
APPENDS = 200
CLI = Actor("cli")


def event(number: int) -> Event:
    """Every tenth one adds a node, the others are notes on it."""
    if number % 10 == 0:
        return HypothesisAdded(f"H{number}", Hypothesis("a claim", "d2t.missing", "d2t-format"))
    return NoteAdded(f"H{number - number % 10}", "seen in the server log, twice")


def build(path: Path) -> None:
    """A journal of `EVENTS` lines, written at once."""
    from hypotree.journal.codec import seal_of

    head = GENESIS
    with path.open("wb") as file:
        for number in range(EVENTS):
            line = encode_record(
                number + 1, "2025-01-01T00:00:00.000+00:00", CLI, event(number), head
            )
            head = seal_of(line[:-1])[0]
            file.write(line)


def appends(path: Path) -> float:
    """Seconds for one append to a fresh journal."""
    journal = Journal(path)
    started = time.perf_counter()
    for number in range(APPENDS):
        journal.append(event(number * 10 + 1), CLI)
    return (time.perf_counter() - started) / APPENDS


def sqlite_appends(path: Path) -> float:
    """Seconds for one row committed in WAL mode with synchronous=FULL."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=full")
    connection.execute("create table events (seq integer primary key, line text)")
    text = "x" * 300
    started = time.perf_counter()
    for _ in range(APPENDS):
        connection.execute("insert into events (line) values (?)", (text,))
    return (time.perf_counter() - started) / APPENDS


def main() -> None:
    """Print the three numbers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        build(path)
        started = time.perf_counter()
        journal = Journal(path)
        read = time.perf_counter()
        state = fold(journal.records)
        folded = time.perf_counter()
        size = path.stat().st_size / 1e6
        mine, theirs = appends(Path(folder, "a.jsonl")), sqlite_appends(Path(folder, "b.db"))
        nodes, both = len(state.hypotheses), folded - started
        report = f"""journal of {EVENTS} events, {size:.0f} MB
  read and checked in {read - started:.2f} s and folded to {nodes} nodes: {both:.2f} s (goal: 0.3 s)
  one fsynced append {mine * 1e6:.0f} us, sqlite WAL FULL {theirs * 1e6:.0f} us
  ratio {mine / theirs:.2f} (goal: 1.2)
"""
        sys.stdout.write(report)


if __name__ == "__main__":
    main()
