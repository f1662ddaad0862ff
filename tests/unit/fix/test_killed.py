"""SIGKILL at any instant: the old file or the new one, and the next start settles it."""

import os
import random
import signal
import time

import pytest
from write_kit import names_in, session_to_insert, session_to_replace, sha256_of

from hypotree.session import Session, fixing
from hypotree.session.asking import ask

RUNS = 34  # for each of the three kinds of write
MANY = 350
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


def writing(folder, *, in_place):
    def action(begin):
        core = Session(folder)._core
        answer = ask(core, "H1")
        begin()
        fixing._write(core, answer, answer.decision, in_place=in_place)

    return action


def undoing(folder):
    def action(begin):
        session = Session(folder)
        begin()
        session.undo()

    return action


KINDS = {
    "one file": (session_to_replace, False),
    "two files": (session_to_insert, False),
    "in place": (session_to_replace, True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_write_or_undo_is_settled_by_the_next_start(kind, tmp_path):
    killed_at_random(kind, tmp_path, RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_killed_writes_and_undos_are_settled(kind, tmp_path):
    killed_at_random(kind, tmp_path, MANY)


def killed_at_random(kind, tmp_path, runs):
    make, in_place = KINDS[kind]
    folder = make(tmp_path / "s", rows=ROWS)
    draft = folder / "draft"
    Session(folder).run("H1")
    files = sorted(draft.iterdir())
    old, names = sha256_of(*files), names_in(draft)
    seconds = in_a_child(writing(folder, in_place=in_place), None)
    new = sha256_of(*files)
    assert new != old
    Session(folder).undo()
    assert sha256_of(*files) == old

    chance = random.Random(7)
    hit, recovered = 0, 0
    for _ in range(runs):
        is_new = sha256_of(*files) == new
        action = undoing(folder) if is_new else writing(folder, in_place=in_place)
        ended = in_a_child(action, chance.uniform(0, 1.2 * seconds))
        hit += ended is None
        for path, before, after in zip(files, old, new, strict=True):
            # In place a file may be a mix until the next start, which is why it is asked for by name.
            assert in_place or sha256_of(path)[0] in {before, after}
        session = Session(folder)
        recovered += len(session.recovered)
        now = sha256_of(*files)
        assert now in {old, new}
        assert names_in(draft) == names
        assert session.verify().state == "whole"
        assert session._core.state.started == {}
        in_force = [w for w in session.snapshot().writes if not w.undone_by and not w.is_undo]
        assert bool(in_force) is (now == new)
    assert hit > runs / 4
    assert recovered > runs / 20
    if sha256_of(*files) == new:
        Session(folder).undo()
    assert sha256_of(*files) == old
    assert session.verify().state == "whole"
