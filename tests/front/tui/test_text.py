"""Those without a terminal UI get the same content, and scripts are never caught in a screen."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from front.command import hypotree
from front.tui.seat import sitting, ui
from kit import World

from hypotree.cli.main import COMMANDS
from hypotree.cli.tui import routed


def test_a_folder_without_a_terminal_is_shown_as_text(proven: World) -> None:
    bare, shown = hypotree(str(proven.session)), hypotree("show", str(proven.session))
    assert bare.returncode == 0
    assert bare.stdout == shown.stdout
    assert json.loads(hypotree(str(proven.session), "--json").stdout)["nodes"]


def test_nothing_at_all_without_a_terminal_is_help_as_ever() -> None:
    assert "Commands" in (hypotree().stdout + hypotree().stderr)


def test_words_that_are_commands_or_no_session_are_left_alone(tmp_path: Path) -> None:
    for argv in (["show", "x"], ["--help"], [str(tmp_path)], ["nonsense"]):
        assert routed(argv, COMMANDS) == argv


def test_the_screen_itself_says_so_where_there_is_none(proven: World) -> None:
    done = hypotree("tui", str(proven.session))
    assert done.returncode == 2
    assert "this is no terminal" in done.stderr


@ui
async def test_show_tree_has_every_line_of_every_tab(proven: World) -> None:
    text = hypotree("show", "--tree", str(proven.session)).stdout.splitlines()
    printed = {line.strip() for line in text}
    async with sitting(proven.session, (300, 60)) as seat:
        for node in ("symptom", "H1", "H2"):
            await seat.select(node)
            for key, tab in (("1", "evidence"), ("2", "fix"), ("5", "notes")):
                await seat.press(key)
                await seat.until(lambda n=node, t=tab: seat.bench._shown == (n, t))
                missing = {x.strip() for x in seat.bench.detail.text().splitlines()} - printed
                assert not missing, (node, tab, missing)


def test_show_watch_prints_again_when_another_process_writes(proven: World) -> None:
    command = [sys.executable, "-u", "-m", "hypotree", "show", "--watch", str(proven.session)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_hear_interrupts,  # noqa: PLW1509 - one thread only
    ) as watch:
        try:
            assert watch.stdout is not None
            _read(watch.stdout.fileno(), b"next:")
            time.sleep(0.5)
            proven.open().note("H1", "seen by the watcher")
            assert b"seen by the watcher" in _read(watch.stdout.fileno(), b"seen by the watcher")
            watch.send_signal(signal.SIGINT)
            assert watch.wait(10) == 0
        finally:
            watch.kill()


def _hear_interrupts() -> None:
    """A suite that runs in the background has SIGINT ignored, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_at_a_terminal_a_folder_opens_the_screen_and_q_leaves_it(proven: World) -> None:
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-m", "hypotree", str(proven.session)])
    try:
        assert b"H1" in _read(fd, b"H1")
        os.write(fd, b"q")
        _read(fd, b"\x1b[?1049l")
    finally:
        _, status = os.waitpid(pid, 0)
        os.close(fd)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_killed_terminal_leaves_the_session_whole(proven: World) -> None:
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-m", "hypotree", str(proven.session)])
    _read(fd, b"H1")
    os.write(fd, b"R")
    time.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
    assert "whole" in hypotree("journal", "verify", str(proven.session)).stdout


def _read(fd: int, wanted: bytes, seconds: float = 20) -> bytes:
    data, end = b"", time.monotonic() + seconds
    while wanted not in data:
        assert time.monotonic() < end, data[-2000:]
        if select.select([fd], [], [], 0.1)[0]:
            data += os.read(fd, 65536)
    return data
