"""Every call into the operating system fails once, and again for good: old or new, never a mix."""

import contextlib
import errno
import os
import shutil
import sys

import pytest
from write_kit import names_in, session_to_insert, session_to_replace, sha256_of

from hypotree.errors import HypotreeError
from hypotree.journal.store import Journal
from hypotree.session import Session, fixing, recovery
from hypotree.session.asking import ask

CALLS = (
    "write", "pwrite", "preadv", "copy_file_range", "fsync", "replace", "fchmod", "fstat", "stat", "lstat", "open",
    "unlink", "pread", "listdir", "listxattr", "statvfs",
)  # fmt: skip


class Faults:
    """Counts calls of os functions; the `at`-th one fails, or all from there on."""

    def __init__(self, monkeypatch, *, thorough=False):
        self.thorough = thorough
        self.count, self.at, self.code, self.for_good, self.armed = 0, 0, 0, False, False
        self.failed = []
        for name in CALLS:
            monkeypatch.setattr(os, name, self.wrapped(name, getattr(os, name)))

    def wrapped(self, name, real):
        def call(*args, **kwargs):
            if self.armed and self.is_counted(sys._getframe(1)):
                self.count += 1
                if self.count == self.at or (self.for_good and self.count > self.at):
                    self.failed.append(name)
                    raise OSError(self.code, os.strerror(self.code))
            return real(*args, **kwargs)

        return call

    def is_counted(self, frame):
        """The readers' calls are many and alike: they fail in the thorough test only."""
        if "users.py" in frame.f_code.co_filename:
            return False  # other processes' files come and go, and any answer is taken
        while frame and "/hypotree/" not in frame.f_code.co_filename:
            if "posixpath" in frame.f_code.co_filename:
                return False  # realpath asks for every folder on the way and takes any answer
            frame = frame.f_back
        return self.thorough or frame is None or "/artifact/" not in frame.f_code.co_filename

    @contextlib.contextmanager
    def failing(self, at, code, *, for_good=False):
        self.count, self.at, self.code, self.for_good, self.armed = 0, at, code, for_good, True
        self.failed.clear()
        try:
            yield
        finally:
            self.armed = False


def settled_state(folder, old):
    """Open the session anew and check all that must hold whatever happened; True if the fix is in."""
    session = Session(folder)
    session.note("H1", "whatever happened, the journal goes on")
    files = sorted((folder / "draft").iterdir())
    view = session.snapshot()
    in_force = [w for w in view.writes if not w.undone_by and not w.is_undo]
    assert [f.name for f in files] == old["names"], names_in(folder / "draft")
    assert session.verify().state == "whole"
    assert session._core.state.started == {}
    now = sha256_of(*files)
    assert (now == old["sha256"]) is (not in_force)
    changed = [f.name for f, a, b in zip(files, now, old["sha256"], strict=True) if a != b]
    assert sorted(changed) == (old["touched"] if in_force else [])
    return bool(in_force)


SESSIONS = {
    "one file": (session_to_replace, ["model.safetensors"]),
    "two files": (
        session_to_insert, ["model-00002-of-00002.safetensors", "model.safetensors.index.json"],
    ),
    "in place": (session_to_replace, ["model.safetensors"]),
}  # fmt: skip


@pytest.fixture(params=SESSIONS)
def made(request, tmp_path):
    """A session whose fix the gate would permit, and what its files were."""
    make, touched = SESSIONS[request.param]
    folder = make(tmp_path / "s")
    session = Session(folder)
    session.run("H1")
    session.plan("H1")
    files = sorted((folder / "draft").iterdir())
    return folder, {
        "sha256": sha256_of(*files), "names": [f.name for f in files], "touched": touched,
        "in_place": request.param == "in place",
    }  # fmt: skip


def write(folder, *, faults=None, at=0, code=0, for_good=False, in_place=False):
    """Whether the write said that it was done; its own failures are of our own kinds only."""
    core = Session(folder)._core
    answer = ask(core, "H1")
    try:
        with faults.failing(at, code, for_good=for_good) if faults else contextlib.nullcontext():
            fixing._write(core, answer, answer.decision, in_place=in_place)
    except HypotreeError:
        return False
    return True


CODES = (errno.ENOSPC, errno.EIO, errno.EACCES)


def check_every_call_of_a_write(made, tmp_path, faults, code_of, *, for_good):
    folder, old = made
    at, done, in_force = 0, [], 0
    while True:
        at += 1
        again = shutil.copytree(folder, tmp_path / f"s{at}")
        done.append(
            write(
                again, faults=faults, at=at, code=code_of(at), for_good=for_good,
                in_place=old["in_place"],
            )
        )  # fmt: skip
        if not faults.failed:
            break
        is_new = settled_state(again, old)
        assert is_new or not done[-1]
        in_force += is_new
        shutil.rmtree(again)
    assert at > 40
    assert done[-1]
    # Little can fail on a fix that is in: what is asked after the journal's last word.
    assert in_force < at / 4


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
def test_a_failing_call_leaves_old_or_new_and_the_next_start_knows_which(
    made, tmp_path, monkeypatch, for_good
):
    check_every_call_of_a_write(
        made, tmp_path, Faults(monkeypatch), lambda at: CODES[at % 3], for_good=for_good
    )


@pytest.mark.slow
@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_each_error_at_each_call_leaves_old_or_new(made, tmp_path, monkeypatch, code, for_good):
    check_every_call_of_a_write(
        made, tmp_path, Faults(monkeypatch, thorough=True), lambda _: code, for_good=for_good
    )


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
def test_a_failing_call_during_an_undo_leaves_old_or_new(made, tmp_path, monkeypatch, for_good):
    folder, old = made
    assert write(folder, in_place=old["in_place"])
    # A journal names its files by their whole paths: each try is made in the same place.
    backup = shutil.copytree(folder, tmp_path / "backup")
    faults = Faults(monkeypatch)
    at = 0
    while not at or faults.failed:
        at += 1
        shutil.rmtree(folder)
        shutil.copytree(backup, folder)
        session = Session(folder)
        with (
            faults.failing(at, CODES[at % 3], for_good=for_good),
            contextlib.suppress(HypotreeError),
        ):
            session.undo()
        settled_state(folder, old)
    assert at > 40


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("event", ["swap-started", "fix-applied"])
def test_a_journal_that_cannot_be_written_leaves_the_old_file(made, monkeypatch, event, part):
    """The disk fills up in the middle of a line, and even the end of the swap cannot be noted."""
    folder, old = made
    core = Session(folder)._core
    answer = ask(core, "H1")
    real = Journal._write
    full = []

    def write(journal, line):
        if full or f'"type":"{event}"'.encode() in line:
            if not full:
                with journal.path.open("ab") as file:
                    file.write(line[: int(len(line) * part)])
            full.append(1)
            raise OSError(errno.ENOSPC, "No space left on device")
        real(journal, line)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "_write", write)
        with pytest.raises(HypotreeError, match="No space left"):
            fixing._write(core, answer, answer.decision)
    is_new = settled_state(folder, old)
    # A line that is whole in the file was said, whatever the system said after it.
    assert is_new is (event == "fix-applied" and part == 1.0)


def test_an_interrupt_from_the_keyboard_puts_the_old_files_back_at_once(made, monkeypatch):
    folder, old = made
    core = Session(folder)._core
    answer = ask(core, "H1")
    real = os.replace

    def interrupted(source, destination):
        real(source, destination)
        if destination.suffix == ".safetensors" and not core.state.notes:
            core.state.notes["stop"] = []
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fixing._write(core, answer, answer.decision)
    assert sha256_of(*sorted((folder / "draft").iterdir())) == old["sha256"]
    assert not settled_state(folder, old)


def test_a_session_opens_and_says_so_though_a_swap_cannot_be_settled(made, monkeypatch):
    folder, old = made
    core = Session(folder)._core
    answer = ask(core, "H1")
    real = Journal._write

    def write(journal, line):
        if b'"type":"fix-applied"' in line or b'"type":"swap-abandoned"' in line:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(journal, line)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "_write", write)
        patch.setattr(recovery, "swap", lambda *_: pytest.fail("the disk is full"))
        with pytest.raises(BaseException, match=r"No space|disk is full"):
            fixing._write(core, answer, answer.decision)
    assert sha256_of(*sorted((folder / "draft").iterdir())) != old["sha256"]
    aside = (folder / "undo").rename(folder / "aside")
    (said,) = Session(folder).recovered
    assert "is not settled" in said
    assert "is gone" in said
    aside.rename(folder / "undo")
    (said,) = Session(folder).recovered
    assert "were new and were put back" in said
    assert not settled_state(folder, old)
