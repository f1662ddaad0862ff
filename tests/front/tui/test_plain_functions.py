"""The decisions behind the screen, without a screen."""

from __future__ import annotations

import base64
import stat
import sys
from pathlib import Path

import pytest
from kit import BELIEF, World

from hypotree.tui.board import Shape
from hypotree.tui.inspecting.numbers import to_numbers
from hypotree.tui.jobs import Job, heard, job_text, time_left
from hypotree.tui.lines import Place, columns
from hypotree.tui.memory import Remembered, recall, recent, remember, state_home
from hypotree.tui.outline import Outline
from hypotree.tui.outside import (
    copy,
    editor_command,
    free_name,
    is_text,
    osc52,
    same_on_the_command_line,
)
from hypotree.tui.trail import Trail
from hypotree.tui.typed import bindable, next_free, parse_pairs
from hypotree.tui.watcher import mark_of, marks_below


def test_progress_is_told_in_bytes_and_time_left() -> None:
    job = heard(Job("H1", "running"), '{"done": 500000000, "total": 2000000000}', 2.0)
    assert (
        job_text(job, 3) == "running H1, 500.0 MB of 2.0 GB (25 %), 6 s left, 3 more wait; x stops"
    )
    assert time_left(Job("H1")) is None


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"done": "x"}', '{"else": 1}', "null"])
def test_what_a_job_prints_besides_is_not_heard(text: str) -> None:
    job = Job("H1", "running")
    assert heard(job, text, 1.0) == job


def test_osc52_carries_the_text_and_is_wrapped_for_multiplexers() -> None:
    code = base64.b64encode("né".encode()).decode()
    assert osc52("né", {}) == f"\x1b]52;c;{code}\a"
    assert osc52("né", {"TMUX": "x"}) == f"\x1bPtmux;\x1b\x1b]52;c;{code}\a\x1b\\"
    assert osc52("né", {"TERM": "screen"}) == f"\x1bP\x1b]52;c;{code}\a\x1b\\"


def test_a_copy_says_how_sure_it_is_and_keeps_a_file(tmp_path: Path) -> None:
    sent: list[str] = []
    copied = copy("hypotree show x", sent.append, tmp_path, {"TERM": "xterm-256color"})
    assert not copied.is_sure
    assert "unconfirmed" in copied.said
    assert len(sent) == 1
    assert (tmp_path / "copied.txt").read_text() == "hypotree show x\n"


def test_a_terminal_without_a_clipboard_gets_the_file_alone(tmp_path: Path) -> None:
    sent: list[str] = []
    for env, text in (({"TERM": "linux"}, "x"), ({"TERM": "xterm"}, "x" * 100_000)):
        assert "takes no copy" in copy(text, sent.append, tmp_path, env).said
    assert sent == []


def test_inside_tmux_its_own_buffer_is_used_and_that_is_sure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "tmux"
    fake.write_text(f"#!/bin/sh\ncat > {tmp_path}/buffer\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    env = {"TMUX": "x", "TERM": "tmux-256color", "PATH": f"{tmp_path}:/bin:/usr/bin"}
    copied = copy("some text", lambda _: None, tmp_path, env)
    assert copied.is_sure
    assert (tmp_path / "buffer").read_text() == "some text"


@pytest.mark.parametrize(
    ("editor", "argv"),
    [
        ("vim", ["vim", "+7", "f.py"]), ("nano -w", ["nano", "-w", "+7", "f.py"]),
        ("code", ["code", "--wait", "--goto", "f.py:7"]), ("/usr/bin/hx", ["/usr/bin/hx", "f.py:7"]),
    ],
)  # fmt: skip
def test_editors_open_at_the_line(editor: str, argv: list[str]) -> None:
    assert editor_command(Place("f.py", 7), {"EDITOR": editor}) == argv


def test_tensors_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\1")
    (tmp_path / "b").write_text("log")
    assert (is_text(str(tmp_path / "a")), is_text(str(tmp_path / "b"))) == (False, True)
    assert not is_text(str(tmp_path / "none"))


def test_commands_that_show_the_same_are_quoted() -> None:
    folder = Path("/tmp/a b")
    assert same_on_the_command_line(folder, "H1", "evidence", "") == (
        "hypotree probe run --session '/tmp/a b' H1"
    )
    assert same_on_the_command_line(folder, "H1", "fix", "").startswith("hypotree fix plan")
    assert same_on_the_command_line(folder, "H1", "fix", "journal").startswith("hypotree journal")
    assert same_on_the_command_line(folder, "H1", "trace", "") == "hypotree show --tree '/tmp/a b'"


def test_a_free_name_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "report.md").touch()
    assert free_name(tmp_path, "report", ".md").name == "report-2.md"


def test_the_trail_forgets_what_was_ahead_when_one_goes_elsewhere() -> None:
    trail = Trail()
    for node in ("a", "b", "c"):
        trail.visit(node)
    assert (trail.back(), trail.back(), trail.back()) == ("b", "a", "")
    trail.visit("d")
    assert trail.ahead() == ""


def test_memory_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    (tmp_path / "session.yaml").touch()
    remember(tmp_path, Remembered(node="H1"))
    assert recall(tmp_path).node == "H1"
    assert recent() == (tmp_path.resolve(),)
    for path in state_home().iterdir():
        path.write_bytes(b"\xff not json")
    assert recall(tmp_path) == Remembered()
    assert recent() == ()


def test_bindings_are_read_as_they_are_typed() -> None:
    assert {k: b.artifact for k, b in parse_pairs("a=b, c = d ,", {}).items()} == {
        "a": "b",
        "c": "d",
    }
    with pytest.raises(Exception, match="has no ="):
        parse_pairs("a", {})
    assert next_free(["H1", "H3"]) == "H2"


def test_probes_whose_inputs_are_missing_come_last_with_the_reason(world: World) -> None:
    from hypotree.probe.registry import all_probes

    choices = bindable(all_probes()[0], world.open().snapshot().artifacts)
    lacking = [bool(c.why_not) for c in choices]
    assert lacking == sorted(lacking)
    assert any("d2t.absolute-ids" in c.text for c in choices if not c.why_not)


def test_a_cycle_made_by_hand_does_not_hang_the_outline() -> None:
    shape = Shape({}, {"symptom": ("a",), "a": ()})
    assert [r.node for r in Outline(shape, ["a"]).rows] == ["symptom", "a"]
    assert shape.path("nowhere") == ("nowhere",)


def test_marks_tell_a_change_of_a_file_and_of_one_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1")
    before, below = mark_of(str(tmp_path / "x")), marks_below(str(tmp_path))
    (tmp_path / "x").write_text("22")
    assert mark_of(str(tmp_path / "x")) != before
    assert marks_below(str(tmp_path)) != below
    assert mark_of("/no/such\0file") == ()


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F8_E5M2", "F16"])
def test_small_floats_are_what_torch_says(dtype: str) -> None:
    import torch

    kind = {
        "BF16": torch.bfloat16, "F16": torch.float16,
        "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
    }[dtype]  # fmt: skip
    width = kind.itemsize
    codes = bytes(range(256)) if width == 1 else b"".join(
        i.to_bytes(2, "little") for i in range(0, 65536, 7)
    )  # fmt: skip
    theirs = torch.frombuffer(bytearray(codes), dtype=kind).to(torch.float32)
    ours = torch.tensor([float(x) for x in to_numbers(dtype, codes)])
    assert torch.equal(ours.nan_to_num(1e9), theirs.nan_to_num(1e9))


def test_columns_line_up_and_numbers_are_set_right() -> None:
    rows = [found.text for found in columns(("name", "n"), [("a", 5), ("bb", 123)])]
    assert rows == ["  name    n", "  a       5", "  bb    123"]


def test_the_world_of_these_tests_holds_the_belief() -> None:
    assert BELIEF["fault"] == "d2t.absolute-ids"
    assert sys.version_info >= (3, 11)
