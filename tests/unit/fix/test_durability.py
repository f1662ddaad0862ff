"""What a power cut can leave, which a kill cannot show: the page cache survives a kill.

A recorder notes what is durable after every fsync and rename. At each moment two
disks are looked at: one that lost all that was not synced, and one on which names
went ahead of the data that they lead to. Both must hold the old or the new file,
and the means to go back.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from write_kit import session_to_insert, session_to_replace

from hypotree.digest import Digest
from hypotree.session import Session, fixing
from hypotree.session.asking import ask

Disk = dict[Path, bytes]


@dataclass
class Recorder:
    """Durable names by folder, durable bytes by inode, and the disks that each moment could leave."""

    folders: list[Path]
    skip: int = -1
    """The fsync that is forgotten, counted from 0."""
    names: dict[Path, dict[str, int]] = field(default_factory=dict)
    bytes_of: dict[int, bytes] = field(default_factory=dict)
    disks: list[tuple[Disk, Disk]] = field(default_factory=list)
    syncs: int = 0
    what: list[str] = field(default_factory=list)
    """The name of what each fsync was of."""

    def begin(self) -> None:
        for folder in self.folders:
            self.names[folder] = self.listing(folder)
            for name, inode in self.names[folder].items():
                if (folder / name).is_file():
                    self.bytes_of[inode] = (folder / name).read_bytes()

    @staticmethod
    def listing(folder: Path) -> dict[str, int]:
        if not folder.is_dir():
            return {}
        return {p.name: p.stat().st_ino for p in folder.iterdir()}

    def synced(self, fd: int) -> None:
        self.syncs += 1
        status = os.fstat(fd)
        path = Path(f"/proc/self/fd/{fd}").readlink()
        self.what.append(path.name)
        if self.syncs - 1 == self.skip:
            return
        if stat.S_ISDIR(status.st_mode):
            self.names[path] = self.listing(path)
        else:
            self.bytes_of[status.st_ino] = Path(f"/proc/self/fd/{fd}").read_bytes()

    def look(self) -> None:
        root = self.folders[0]
        lost = {
            f / n: self.bytes_of.get(i, b"")
            for f, ns in self.names.items()
            if f == root or f.name in self.names[root]
            for n, i in ns.items()
        }
        ahead = {
            f / n: self.bytes_of.get(i, b"")
            for f in self.folders
            for n, i in self.listing(f).items()
        }
        self.disks.append((lost, ahead))

    @contextmanager
    def recording(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        self.begin()
        with monkeypatch.context() as patch:
            for name in ("fsync", "fdatasync"):
                patch.setattr(os, name, self.wrapped(getattr(os, name), self.synced))
            for name in ("replace", "unlink", "pwrite", "write", "copy_file_range"):
                patch.setattr(os, name, self.wrapped(getattr(os, name), lambda *_: None))
            yield
        self.look()

    def wrapped(
        self, real: Callable[..., object], note: Callable[..., None]
    ) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            self.look()
            result = real(*args, **kwargs)
            note(args[0])
            self.look()
            return result

        return call


KINDS = {
    "one file": (session_to_replace, False),
    "two files": (session_to_insert, False),
    "in place": (session_to_replace, True),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def record(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch, skip: int = -1) -> Recorder:
    """One write with a recorder on it; `broken` says what was wrong on any disk."""
    make, in_place = KINDS[kind]
    make(folder)
    session = Session(folder)
    session.run("H1")
    session.plan("H1")
    core = Session(folder)._core
    answer = ask(core, "H1")
    recorder = Recorder([folder, folder / "draft", folder / "undo"], skip)
    with recorder.recording(monkeypatch):
        fixing._write(core, answer, answer.decision, in_place=in_place)  # type: ignore[arg-type]
    return recorder


def broken(kind: str, folder: Path, recorder: Recorder) -> list[str]:
    """What no disk may show, and does."""
    first, last = recorder.disks[0][0], {p: p.read_bytes() for p in (folder / "draft").iterdir()}
    old = {path: data for path, data in first.items() if path.parent == folder / "draft"}
    problems: list[str] = []
    for lost, ahead in recorder.disks:
        for disk in (lost, ahead):
            problems += look_at(kind, folder, disk, old, last)
    lost, _ = recorder.disks[-1]
    if {p: d for p, d in lost.items() if p in last} != last:
        problems.append("the fix is said to be in, and is not durable")
    if b'"fix-applied"' not in lost.get(folder / "journal.jsonl", b""):
        problems.append("the journal's last word is not durable")
    return problems


def look_at(kind: str, folder: Path, disk: Disk, old: Disk, new: Disk) -> list[str]:
    problems, changed = [], 0
    for path in old:
        found = disk.get(path, b"")
        changed += found != old[path]
        if found not in (old[path], new[path]) and kind != "in place":
            problems.append(f"{path.name} is neither old nor new")
    if not changed:
        return problems
    if b'"swap-started"' not in disk.get(folder / "journal.jsonl", b""):
        problems.append("a file changed before the journal said so")
    packs = {p: d for p, d in disk.items() if p.parent == folder / "undo" and len(p.name) == 64}
    if len(packs) < changed:
        problems.append("a file changed before its undo pack was there")
    if any(Digest.of(data).hex != path.name for path, data in packs.items()):
        problems.append("an undo pack is not whole")
    return problems


def test_no_moment_leaves_a_disk_without_the_way_back(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = record(kind, tmp_path / "s", monkeypatch)
    assert recorder.syncs >= 5
    assert broken(kind, tmp_path / "s", recorder) == []


def test_every_fsync_that_is_left_out_is_missed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = record(kind, tmp_path / "whole", monkeypatch)
    unmissed = []
    for skip, name in enumerate(whole.what):
        if name in whole.what[skip + 1 : whole.what.index("journal.jsonl")]:
            continue  # the same folder again, before anything rests on it
        folder = tmp_path / f"without-{skip}"
        if not broken(kind, folder, record(kind, folder, monkeypatch, skip)):
            unmissed.append((skip, name))
    assert unmissed == [], whole.what
