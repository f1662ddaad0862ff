import os
import time
import tracemalloc

import pytest

from hypotree.artifact.files import DiskFile
from hypotree.artifact.log import MAX_LINE, Log
from hypotree.digest import CHUNK, digest_file
from hypotree.errors import UnreadableError


def log_of(tmp_path, data):
    path = tmp_path / "server.log"
    path.write_bytes(data)
    return Log(str(path))


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"one", [(1, "one")]),
        (b"one\n", [(1, "one")]),
        (b"one\r\ntwo\r\n", [(1, "one"), (2, "two")]),
        (b"one\n\nthree", [(1, "one"), (2, ""), (3, "three")]),
        (b"\xff\xfe\n", [(1, "\ufffd\ufffd")]),
        ("ü\n".encode(), [(1, "ü")]),
    ],
)
def test_lines_are_numbered_from_one_whatever_ends_them(tmp_path, data, lines):
    assert list(log_of(tmp_path, data).lines()) == lines


def test_a_line_across_two_chunks_is_one_line(tmp_path):
    filler = b"x" * 1000 + b"\n"
    data = filler * (CHUNK // len(filler)) + b"across the chunks " * 40 + b"\nlast\n"
    found = list(log_of(tmp_path, data).lines())
    assert found[-2][1] == "across the chunks " * 40
    assert len(found) == data.count(b"\n")


@pytest.mark.parametrize("taken", [0, 1, 10_000])
def test_the_log_is_noted_whole_however_few_lines_are_taken(tmp_path, taken):
    log = log_of(tmp_path, b"a line\n" * 10)
    lines = log.lines()
    for _ in range(taken):
        next(lines, None)
    lines.close()
    expected = digest_file(DiskFile(tmp_path / "server.log"))
    assert [r.sha256 for r in log.reads] == ([expected] if taken else [])


def test_a_line_of_200_mb_is_cut_in_bounded_memory_and_time(tmp_path):
    path = tmp_path / "server.log"
    with path.open("wb") as file:
        file.write(b"first\n")
        file.truncate(200 << 20)  # one line of NULs, sparse
        file.seek(0, os.SEEK_END)
        file.write(b"\nlast\n")
    tracemalloc.start()
    started = time.monotonic()
    found = list(Log(str(path)).lines())
    seconds, peak = time.monotonic() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(number, len(line)) for number, line in found] == [(1, 5), (2, MAX_LINE), (3, 4)]
    assert seconds < 5
    assert peak < 32 << 20


def test_a_log_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UnreadableError, match="no such file"):
        list(Log(str(tmp_path / "nope.log")).lines())
