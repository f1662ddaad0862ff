"""SIGKILL at any instant: the old file or the new one, and the next start settles it."""

import os
import random
import signal
import time

import pytest
from write_kit import names_in, session_to_insert, session_to_replace, sha256_of

from hypotree.session import Session, fixing
from hypotree.session.asking import ask

RUNS = 50  # for each of the two kinds of session
#: 4 MB: long enough to be hit while the sibling is written and compared.
ROWS = 1 << 18

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def in_a_child(action, delay):
    """Fork, let the child say that it begins, and kill it `delay` seconds later; None: let it end.

    Returns how long it ran if it ended by itself, else None.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            action(lambda: os.write(write, b"!"))
        finally:
            os._exit(0)
    os.close(write)
    os.read(read, 1)
    os.close(read)
    started = time.monotonic()
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else time.monotonic() - started


def writing(folder):
    def action(begin):
        core = Session(folder)._core
        answer = ask(core, "H1")
        begin()
        fixing._write(core, answer, answer.decision)

    return action


def undoing(folder):
    def action(begin):
        session = Session(folder)
        begin()
        session.undo()

    return action


@pytest.mark.parametrize("make", [session_to_replace, session_to_insert])
def test_a_killed_write_or_undo_is_settled_by_the_next_start(make, tmp_path):
    folder = make(tmp_path / "s", rows=ROWS)
    draft = folder / "draft"
    Session(folder).run("H1")
    files = sorted(draft.iterdir())
    old, names = sha256_of(*files), names_in(draft)
    seconds = in_a_child(writing(folder), None)
    new = sha256_of(*files)
    assert new != old
    Session(folder).undo()
    assert sha256_of(*files) == old

    chance = random.Random(7)
    hit, recovered = 0, 0
    for _ in range(RUNS):
        is_new = sha256_of(*files) == new
        action = undoing(folder) if is_new else writing(folder)
        ended = in_a_child(action, chance.uniform(0, 1.2 * seconds))
        hit += ended is None
        for path, before, after in zip(files, old, new, strict=True):
            assert sha256_of(path)[0] in {before, after}
        session = Session(folder)
        recovered += len(session.recovered)
        now = sha256_of(*files)
        assert now in {old, new}
        assert names_in(draft) == names
        assert session.verify().state == "whole"
        assert session._core.state.started == {}
        in_force = [w for w in session.snapshot().writes if not w.undone_by and not w.is_undo]
        assert bool(in_force) is (now == new)
    assert hit > RUNS / 4
    assert recovered > RUNS / 10
    if sha256_of(*files) == new:
        Session(folder).undo()
    assert sha256_of(*files) == old
    assert session.verify().state == "whole"
