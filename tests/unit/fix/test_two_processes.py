"""Two processes at one target, and one that looks on while another writes."""

import subprocess
import sys
from contextlib import ExitStack

import pytest
from write_kit import (
    names_in,
    session_to_replace,
    sha256_of,
    write_draft_with_absolute_ids,
    write_session,
)

from hypotree.session import Session

#: Applies H1 as `Session.apply` does, and stops at a point until it is told to go on.
SCRIPT = """
import sys
from pathlib import Path
from hypotree.errors import HypotreeError
from hypotree.fix import swap
from hypotree.session import Session, fixing

def stop_after(module, name):
    real = getattr(module, name)
    def stopping(*args):
        result = real(*args)
        print("ready", flush=True)
        sys.stdin.readline()
        return result
    setattr(module, name, stopping)

stop_after(*{"gate": (fixing, "ask"), "sibling": (swap, "write_beside")}[sys.argv[2]])
session = Session(Path(sys.argv[1]))
try:
    result = session.apply("H1")
    print(type(result).__name__, getattr(result, "code", getattr(result, "id", "")))
except HypotreeError as error:
    print(type(error).__name__, error)
"""


def waiting(target):
    return [name for name in names_in(target.parent) if ".hypotree-" in name]


def started(stack, folder, point):
    process = stack.enter_context(
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, folder, point],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    return process


def gone_on(*processes):
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    return sorted(process.communicate(timeout=60)[0].split()[0:2] for process in processes)


@pytest.fixture(params=["one session", "two sessions"])
def folders(request, tmp_path):
    """Session folders of the two processes, over one draft."""
    if request.param == "one session":
        folder = session_to_replace(tmp_path / "s")
        Session(folder).run("H1")
        return folder, folder, folder / "draft"
    write_draft_with_absolute_ids(tmp_path / "draft")
    both = [tmp_path / "a", tmp_path / "b"]
    for folder in both:
        folder.mkdir()
        write_session(folder, "../draft", fault="d2t.absolute-ids", fix="d2t-to-offsets")
        Session(folder).run("H1")
    return *both, tmp_path / "draft"


@pytest.mark.parametrize("again", range(3))
def test_of_two_that_passed_the_gate_one_writes_and_the_other_is_told_that_it_is_stale(
    folders, again
):
    one, other, draft = folders
    before = sha256_of(draft / "model.safetensors")
    with ExitStack() as stack:
        ends = gone_on(started(stack, one, "gate"), started(stack, other, "gate"))
    assert [end[0] for end in ends] == ["Applied", "Refusal"], ends
    assert ends[1][1] == "STALE_ARTIFACT"
    assert names_in(draft) == ["config.json", "model.safetensors"]
    sessions = [Session(folder) for folder in dict.fromkeys((one, other))]
    writes = [(s, w) for s in sessions for w in s.snapshot().writes]
    assert len(writes) == 1
    refusals = [r for s in sessions for n in s.snapshot().nodes for r in n.refusals]
    assert [r.code for r in refusals] == ["STALE_ARTIFACT"]
    for session in sessions:
        assert session.recovered == ()
        assert session.verify().state == "whole"
        assert session._core.state.started == {}
    session, write = writes[0]
    session.undo(write.id)
    assert sha256_of(draft / "model.safetensors") == before


def test_a_start_leaves_a_swap_alone_that_another_process_is_making(tmp_path):
    folder = session_to_replace(tmp_path / "s")
    Session(folder).run("H1")
    target = folder / "draft" / "model.safetensors"
    with ExitStack() as stack:
        process = started(stack, folder, "sibling")
        onlooker = Session(folder)
        assert onlooker.recovered == ()
        assert len(onlooker._core.state.started) == 1
        assert len(waiting(target)) == 1
        assert gone_on(process)[0][0] == "Applied"
    assert [w.fix for w in onlooker.snapshot().writes] == ["d2t-to-offsets"]
    assert waiting(target) == []


def test_a_start_after_the_other_process_died_puts_things_right(tmp_path):
    folder = session_to_replace(tmp_path / "s")
    Session(folder).run("H1")
    target = folder / "draft" / "model.safetensors"
    before = sha256_of(target)
    with ExitStack() as stack:
        process = started(stack, folder, "sibling")
        process.kill()
        process.communicate()
    assert len(waiting(target)) == 1
    (said,) = Session(folder).recovered
    assert "0 of 1 files were new" in said
    assert waiting(target) == []
    assert sha256_of(target) == before


def test_two_undos_at_once_are_one_undo_and_one_refusal(tmp_path):
    folder = session_to_replace(tmp_path / "s")
    session = Session(folder)
    session.run("H1")
    before = sha256_of(folder / "draft" / "model.safetensors")
    session.apply("H1")
    code = (
        "import sys; from pathlib import Path; from hypotree.session import Session\n"
        "s = Session(Path(sys.argv[1])); print('ready', flush=True); sys.stdin.readline()\n"
        "try:\n    print('undone', s.undo())\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    with ExitStack() as stack:
        both = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", code, folder],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                )
            )
            for _ in range(2)
        ]  # fmt: skip
        for process in both:
            process.stdout.readline()
        ends = gone_on(*both)
    assert ends[1][0] == "undone"
    assert ends[0][0] in {"RefusedError", "MisuseError"}
    assert sha256_of(folder / "draft" / "model.safetensors") == before
    assert Session(folder).verify().state == "whole"


def test_a_start_does_not_undo_what_another_session_wrote_after_its_own_swap_died(tmp_path):
    draft = write_draft_with_absolute_ids(tmp_path / "draft")
    one, other = tmp_path / "a", tmp_path / "b"
    for folder in (one, other):
        folder.mkdir()
        write_session(folder, "../draft", fault="d2t.absolute-ids", fix="d2t-to-offsets")
        Session(folder).run("H1")
    with ExitStack() as stack:
        process = started(stack, one, "sibling")
        process.kill()
        process.communicate()
    Session(other).apply("H1")
    fixed = sha256_of(draft / "model.safetensors")
    (said,) = Session(one).recovered
    assert "0 of 1 files were new" in said
    assert sha256_of(draft / "model.safetensors") == fixed
    assert waiting(draft / "model.safetensors") == []
