"""In place: only changed ranges are written, the inode stays, and a crash leaves the old file."""

from __future__ import annotations

import hashlib
import mmap
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hypotree.errors import MisuseError
from hypotree.fix import in_place
from hypotree.model.refusal import Refusal
from hypotree.session import Session
from hypotree.session.fixing import Applied
from hypotree_probes.planting import blank, ids, plant_checkpoint, safetensors_bytes

OFFSETS = [0, 0, 3, 6, 16, 16, 34, 56]
TARGETS = [i + v for i, v in enumerate(OFFSETS)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tensors = {
        "fc.weight": blank("BF16", 64, 192),
        "lm_head.weight": blank("BF16", 8, 64),
        "d2t": ids(TARGETS),
    }
    config = {"vocab_size": 64, "draft_vocab_size": 8, "hidden_size": 64}
    plant_checkpoint(tmp_path, tensors, config)
    (tmp_path / "truth.safetensors").write_bytes(safetensors_bytes({"d2t": ids(OFFSETS)}))
    document = {
        "hypotree": 1,
        "symptom": "x",
        "artifacts": {
            "draft": {"path": "draft", "role": "subject"},
            "map": {"path": "truth.safetensors", "role": "truth"},
        },
        "hypotheses": {
            "H1": {
                "claim": "d2t holds absolute ids", "fault": "d2t.absolute-ids", "probe": "d2t-format",
                "inputs": {"draft": "draft", "truth": "map"}, "fix": "restore-tensor",
            }
        },
        "policy": {"approve": "auto"},
    }  # fmt: skip
    (tmp_path / "session.yaml").write_text(yaml.safe_dump(document))
    Session(tmp_path).run("H1")
    return tmp_path


def target(folder: Path) -> Path:
    return folder / "draft" / "model.safetensors"


def digest(folder: Path) -> str:
    return hashlib.sha256(target(folder).read_bytes()).hexdigest()


def test_only_the_changed_range_is_written_and_the_inode_stays(folder: Path) -> None:
    before, size = target(folder).stat(), target(folder).stat().st_size
    old = target(folder).read_bytes()
    applied = Session(folder).apply("H1", in_place=True)
    assert isinstance(applied, Applied), applied
    after = target(folder).stat()
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, size)
    new = target(folder).read_bytes()
    assert {i for i in range(size) if old[i] != new[i]} <= set(range(size - 64, size))
    (write,) = Session(folder).snapshot().writes
    assert [(f.method, f.bytes_written) for f in write.files] == [("in-place", 64)]


def test_an_undo_of_it_is_in_place_too_and_gives_every_byte_back(folder: Path) -> None:
    before, inode = digest(folder), target(folder).stat().st_ino
    session = Session(folder)
    session.apply("H1", in_place=True)
    session.undo()
    assert digest(folder) == before
    assert target(folder).stat().st_ino == inode
    session.redo()
    assert digest(folder) != before
    assert target(folder).stat().st_ino == inode


@pytest.mark.parametrize("step", ["before the first byte", "half way", "after the last byte"])
def test_a_kill_leaves_what_the_next_start_turns_back(folder: Path, step: str) -> None:
    before = digest(folder)
    code = f"""
import os, signal
from pathlib import Path
from hypotree.fix import in_place
from hypotree.session import Session
real = in_place._write_at
def dying(fd, at, data):
    if {step!r} == "half way":
        os.pwrite(fd, data[: len(data) // 2], at)
    if {step!r} == "after the last byte":
        real(fd, at, data)
    os.kill(os.getpid(), signal.SIGKILL)
in_place._write_at = dying
Session(Path({str(folder)!r})).apply("H1", in_place=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    session = Session(folder)
    assert len(session.recovered) == 1
    assert digest(folder) == before
    assert session.verify().state == "whole"
    assert isinstance(session.apply("H1", in_place=True), Applied)


def test_a_disk_that_fails_half_way_gets_the_old_bytes_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real, calls = digest(folder), os.pwrite, 0

    def failing(fd: int, data: memoryview, at: int) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            return real(fd, data[:10], at)
        if calls == 2:
            raise OSError(5, "Input/output error")
        return real(fd, data, at)

    monkeypatch.setattr(os, "pwrite", failing)
    from hypotree.errors import ToolError

    with pytest.raises(ToolError, match="Input/output error"):
        Session(folder).apply("H1", in_place=True)
    monkeypatch.undo()
    assert digest(folder) == before
    assert Session(folder).recovered == ()


def test_what_would_have_to_move_is_not_written_in_place(folder: Path) -> None:
    from hypotree.artifact.files import DiskFile
    from hypotree.fix.segments import Fresh, Kept, SegmentedFile

    base = DiskFile(target(folder))
    assert in_place.fits_in_place(SegmentedFile(base, (Fresh(b"12345678"), Kept(8, base.size - 8))))
    moved = SegmentedFile(base, (Fresh(b"123456789"), Kept(8, base.size - 8)))
    assert not in_place.fits_in_place(moved)
    with pytest.raises(MisuseError, match="without --in-place"):
        in_place.need_in_place(moved, target(folder))


@pytest.mark.parametrize(
    ("use", "inside"),
    [("mapped", True), ("open for writing", True), ("open for writing", False)],
)
def test_a_file_that_another_process_holds_is_refused_by_its_name(
    folder: Path, use: str, inside: bool
) -> None:
    code = {
        "mapped": (
            "import mmap, sys; f = open(sys.argv[1], 'rb'); "
            "m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); f.close()"
        ),
        "open for writing": "import sys; f = open(sys.argv[1], 'r+b')",
    }[use]  # fmt: skip
    code += "\nprint('ready', flush=True); sys.stdin.read()"
    before = digest(folder)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(target(folder))], stdin=-1, stdout=-1, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        refused = Session(folder).apply("H1", in_place=inside)
        holder.terminate()
    assert isinstance(refused, Refusal)
    assert refused.code == "UNSAFE_TARGET"
    assert f"process {holder.pid}" in refused.found
    assert digest(folder) == before


def test_a_reader_that_maps_a_replaced_file_keeps_the_old_one(folder: Path) -> None:
    old = target(folder).read_bytes()
    with (
        target(folder).open("rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view,
    ):
        assert isinstance(Session(folder).apply("H1"), Applied)
        assert view[:] == old
    assert target(folder).read_bytes() != old


def test_our_own_mapping_is_no_reason(folder: Path) -> None:
    with target(folder).open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        assert isinstance(Session(folder).apply("H1"), Applied)
