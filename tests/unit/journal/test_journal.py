"""The journal: whatever was appended comes back, and whatever was done to the file is found. DESIGN 5."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import events
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypotree.errors import JournalError, ToolError
from hypotree.journal.audit import audit
from hypotree.journal.codec import GENESIS, encode_record
from hypotree.journal.store import Journal
from hypotree.model import event as ev
from hypotree.model.evidence import Evidence
from hypotree.tree.replay import fold

CLI = ev.Actor("cli")
NOW = "2025-01-01T00:00:00.000+00:00"


def note(text: str) -> ev.NoteAdded:
    return ev.NoteAdded("H1", text)


def lines(count: int = 4) -> list[bytes]:
    """A whole journal of `count` lines."""
    made: list[bytes] = []
    head = GENESIS
    for number in range(1, count + 1):
        made.append(encode_record(number, NOW, CLI, note(f"note {number}"), head))
        head = audit(b"".join(made)).head
    return made


def journal_of(folder: Path, data: bytes) -> Journal:
    path = folder / "journal.jsonl"
    path.write_bytes(data)
    return Journal(path)


# -- coming back ------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(events.event, events.actor), max_size=5))
def test_any_list_of_events_comes_back_as_it_was(
    given_events: list[tuple[ev.Event, ev.Actor]],
) -> None:
    data, head = b"", GENESIS
    for number, (event, actor) in enumerate(given_events, 1):
        data += encode_record(number, NOW, actor, event, head)
        head = audit(data).head
    found = audit(data)
    assert (found.state, found.why) == ("whole", "")
    assert [(r.event, r.actor) for r in found.records] == given_events
    assert found.good_bytes == len(data)
    assert data.count(b"\n") == len(given_events), "one line an event, whatever its text"


@settings(max_examples=60, deadline=None)
@given(st.lists(events.event, max_size=6))
def test_any_list_of_events_can_be_replayed(given_events: list[ev.Event]) -> None:
    records = [
        ev.Record(n, NOW, CLI, event, GENESIS, GENESIS) for n, event in enumerate(given_events, 1)
    ]
    assert fold(records).seq == len(given_events)


def test_what_one_process_appends_another_one_reads(tmp_path: Path) -> None:
    one, other = Journal(tmp_path / "j"), Journal(tmp_path / "j")
    one.append(note("a"), CLI)
    other.append(note("b"), CLI)
    one.append(note("c"), CLI)
    assert [r.event.text for r in other.refresh()] == ["c"]
    assert [r.event.text for r in one.records] == ["a", "b", "c"]
    assert one.verify().state == "whole"


# -- being changed ----------------------------------------------------------------------------

WHOLE = lines()
DATA = b"".join(WHOLE)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(DATA) - 1), st.integers(0, 7))
def test_a_flipped_bit_is_found_in_its_line(at: int, bit: int) -> None:
    changed = bytearray(DATA)
    changed[at] ^= 1 << bit
    found = audit(bytes(changed))
    line = DATA[:at].count(b"\n") + 1
    if at == len(DATA) - 1:
        # The last line's end: as if it had never been finished.
        assert (found.state, found.line) == ("torn", len(WHOLE))
    else:
        assert (found.state, found.line) == ("broken", line)
    assert found.why
    assert len(found.records) == line - 1


@pytest.mark.parametrize("at", range(3))
def test_a_removed_line_is_found(at: int) -> None:
    found = audit(b"".join(WHOLE[:at] + WHOLE[at + 1 :]))
    assert (found.state, found.line) == ("broken", at + 1)


@pytest.mark.parametrize("at", range(4))
def test_a_doubled_line_is_found(at: int) -> None:
    found = audit(b"".join([*WHOLE[: at + 1], WHOLE[at], *WHOLE[at + 1 :]]))
    assert (found.state, found.line) == ("broken", at + 2)


@pytest.mark.parametrize("at", range(3))
def test_two_swapped_lines_are_found(at: int) -> None:
    changed = [*WHOLE]
    changed[at], changed[at + 1] = changed[at + 1], changed[at]
    found = audit(b"".join(changed))
    assert (found.state, found.line) == ("broken", at + 1)


@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("forged", ["sealed", "empty", "not json", "binary"])
def test_an_inserted_line_is_found(at: int, forged: str) -> None:
    head = audit(b"".join(WHOLE[:at])).head
    line = {
        "sealed": encode_record(at + 1, NOW, CLI, note("forged"), head),
        "empty": b"\n",
        "not json": b"hello\n",
        "binary": b"\xff\x00\n",
    }[forged]
    found = audit(b"".join([*WHOLE[:at], line, *WHOLE[at:]]))
    if at == 4 and forged == "sealed":
        assert found.state == "whole", (
            "that is an append: the chain has no key, the folder guards it"
        )
    else:
        assert (found.state, found.line) == ("broken", at + 1 + (forged == "sealed"))


def test_a_line_of_another_journal_is_found() -> None:
    other = encode_record(3, NOW, CLI, note("from elsewhere"), GENESIS)
    assert audit(b"".join([*WHOLE[:2], other, *WHOLE[3:]])).line == 3


def test_a_broken_journal_is_read_up_to_the_break_and_never_written_to(tmp_path: Path) -> None:
    changed = bytearray(DATA)
    changed[len(WHOLE[0]) + 5] ^= 1
    journal = journal_of(tmp_path, bytes(changed))
    assert journal.is_broken
    assert journal.problem.startswith("line 2: ")
    assert len(journal.records) == 1
    with pytest.raises(JournalError, match="line 2"):
        journal.append(note("more"), CLI)
    assert journal.path.read_bytes() == bytes(changed)


# -- behind a living reader -------------------------------------------------------------------


def test_lines_cut_off_behind_a_reader_are_missed(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, DATA)
    journal.path.write_bytes(b"".join(WHOLE[:2]))
    journal.refresh()
    assert journal.is_broken
    assert journal.problem == "line 3: 2 events that were here before are gone or replaced"
    with pytest.raises(JournalError):
        journal.append(note("more"), CLI)


def test_a_journal_deleted_behind_a_reader_is_missed(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, DATA)
    journal.path.unlink()
    journal.refresh()
    assert journal.is_broken


def test_another_whole_journal_in_its_place_is_noticed(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, DATA)
    fake = tmp_path / "fake"
    Journal(fake).append(note("a new past"), CLI)
    os.replace(fake, journal.path)
    journal.refresh()
    assert journal.is_broken
    assert journal.problem.startswith("line 1: ")


def test_the_same_journal_restored_from_a_copy_is_no_break(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, DATA)
    copy = tmp_path / "copy"
    copy.write_bytes(DATA)
    os.replace(copy, journal.path)
    journal.append(note("more"), CLI)
    assert journal.verify().state == "whole"
    assert len(journal.records) == 5


# -- torn -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [1, 20, len(WHOLE[3]) - 1])
def test_a_torn_tail_is_no_tampering_and_the_next_append_goes_on(tmp_path: Path, kept: int) -> None:
    torn = WHOLE[3][:kept]
    journal = journal_of(tmp_path, b"".join(WHOLE[:3]) + torn)
    assert not journal.is_broken
    assert "never finished" in journal.problem
    assert len(journal.records) == 3
    journal.append(note("after the crash"), CLI)
    assert journal.verify().state == "whole"
    assert len(journal.records) == 4
    (aside,) = tmp_path.glob("*.torn-*")
    assert aside.read_bytes() == torn


def test_two_torn_tails_in_one_place_are_both_kept(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, DATA + b"first")
    journal._set_torn_tail_aside()
    with journal.path.open("ab") as file:
        file.write(b"second")
    journal.append(note("on"), CLI)
    assert sorted(p.read_bytes() for p in tmp_path.glob("*.torn-*")) == [b"first", b"second"]


# -- what has no JSON -------------------------------------------------------------------------


def sealed(**changes: object) -> ev.EvidenceSealed:
    fields = {
        "schema": "hypotree.evidence/1", "probe": "p", "version": "1", "code_sha256": GENESIS,
        "inputs": (), "findings": (), "seconds": 0.0,
    }  # fmt: skip
    return ev.EvidenceSealed("H1", Evidence(**{**fields, **changes}))


@pytest.mark.parametrize(
    "event",
    [
        sealed(measures={"accept_length": float("nan")}),
        sealed(measures={"accept_length": float("inf")}),
        sealed(params={"x": float("nan")}),
        sealed(summary="\ud800"),
        sealed(summary=object()),
    ],
    ids=["nan", "infinity", "nan parameter", "a lone surrogate", "an object"],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path: Path, event: ev.Event) -> None:
    journal = journal_of(tmp_path, DATA)
    with pytest.raises(ToolError, match="journaling"):
        journal.append(event, CLI)
    assert journal.path.read_bytes() == DATA
    journal.append(note("and on"), CLI)
    assert journal.verify().state == "whole"


# -- several processes ------------------------------------------------------------------------

_WRITER = """
import sys
from pathlib import Path
from hypotree.journal.store import Journal
from hypotree.model.event import Actor, NoteAdded
journal = Journal(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    journal.append(NoteAdded("H1", f"{sys.argv[3]} {number} " + "x" * 400), Actor("cli"))
    print(number, flush=True)
"""


def writer(path: Path, count: int, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), str(count), name], stdout=subprocess.PIPE
    )


def test_two_processes_of_two_hundred_events_each_make_one_whole_chain(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    writers = [writer(path, 200, name) for name in ("a", "b")]
    for process in writers:
        process.communicate(timeout=60)
        assert process.returncode == 0
    found = Journal(path).verify()
    assert (found.state, len(found.records)) == ("whole", 400)
    texts = [r.event.text.split()[:2] for r in found.records]
    for name in ("a", "b"):
        assert [n for who, n in texts if who == name] == [str(n) for n in range(200)]


@pytest.mark.parametrize("attempt", range(3))
def test_a_killed_writer_leaves_a_journal_that_verifies_and_goes_on(
    tmp_path: Path, attempt: int
) -> None:
    path = tmp_path / "journal.jsonl"
    process = writer(path, 100_000, "k")
    assert process.stdout is not None
    for _ in range(20 + 7 * attempt):
        process.stdout.readline()
    time.sleep(0.003 * attempt)
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    acknowledged = 20 + 7 * attempt + len(rest.splitlines())
    journal = Journal(path)
    assert not journal.is_broken
    assert len(journal.records) >= acknowledged, "an acknowledged event was lost"
    journal.append(note("after"), CLI)
    assert journal.verify().state == "whole"


def test_a_held_lock_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hypotree.journal.store.LOCK_SECONDS", 0.05)
    one, other = Journal(tmp_path / "j.jsonl"), Journal(tmp_path / "j.jsonl")
    with one.locked(), pytest.raises(ToolError, match="another process holds it"):
        other.append(note("x"), CLI)


def test_an_append_is_durable_before_it_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(fd), real(fd))[1])
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(FileNotFoundError):
        Journal(Path(folder, "j")).append(note("x"), CLI)
        assert len(synced) == 2, "the file, and the folder that names it"
