"""The whole incident, from a fresh folder to an exported report, by keys only, in a real terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from front.command import hypotree_json

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed here"),
]


class Terminal:
    """A tmux server of our own with one window."""

    def __init__(self, socket: Path, command: list[str], env: dict[str, str]) -> None:
        self._tmux = ["tmux", "-S", str(socket)]
        words = " ".join(f"'{word}'" for word in command)
        subprocess.run(
            [*self._tmux, "new-session", "-d", "-x", "120", "-y", "36", words],
            env={**_without_sizes(), **env},
            check=True,
        )

    def keys(self, *keys: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def write(self, text: str) -> None:
        subprocess.run([*self._tmux, "send-keys", "-l", text], check=True)

    def screen(self) -> str:
        done = subprocess.run(
            [*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False
        )
        return done.stdout

    def until(self, text: str, seconds: float = 100) -> str:
        end = time.monotonic() + seconds
        while text not in (seen := self.screen()):
            assert time.monotonic() < end, f"waiting for {text!r}:\n{seen}"
            time.sleep(0.1)
        return seen

    def until_gone(self, text: str) -> None:
        end = time.monotonic() + 30
        while text in self.screen():
            assert time.monotonic() < end, self.screen()
            time.sleep(0.1)

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)


def _without_sizes() -> dict[str, str]:
    """pytest-xdist sets COLUMNS for its workers, and textual takes it for the terminal's width."""
    return {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "LINES"}}


def test_the_incident_is_played_by_keys_only(tmp_path: Path) -> None:
    folder = tmp_path / "incident"
    env = {"XDG_STATE_HOME": str(tmp_path / "state"), "TERM": "xterm-256color"}
    terminal = Terminal(tmp_path / "t", [sys.executable, "-m", "hypotree"], env)
    try:
        terminal.until("a lab bench for hypotheses")
        terminal.keys("d")
        terminal.until("must be empty or new")
        terminal.keys("C-e", "C-u")
        # textual runs a binding after the plain characters of the same burst: wait for it
        terminal.until_gone("hypotree-demo")
        terminal.write(str(folder))
        terminal.until(str(folder)[-30:])
        terminal.keys("Enter")
        terminal.until("H3 untested")
        terminal.keys("S")
        terminal.until("accept length 1.05")
        terminal.keys("j", "r")
        terminal.until("H1 confirmed")
        terminal.keys("A")
        terminal.until("type model.safetensors")
        terminal.write("model.safetensors")
        terminal.keys("Enter")
        terminal.until("H1 fixed, symptom unmoved")
        terminal.keys("j", "r")
        terminal.until("H2 refuted")
        terminal.keys("A")
        terminal.until("REFUSED REFUTED")
        terminal.keys("1", "j", "r")
        terminal.until("H3 confirmed")
        terminal.keys("w")
        terminal.until("existing file is not written over")
        terminal.keys("C-s")
        terminal.until("report of")
        terminal.keys("q")
    finally:
        terminal.close()
    _, view = hypotree_json("show", str(folder))
    standing = {node["id"]: node["standing"] for node in view["nodes"]}
    expected = {"H1": "fixed, symptom unmoved", "H2": "refuted", "H3": "confirmed"}
    assert expected.items() <= standing.items()
    report = (folder / "report.md").read_text()
    assert "**REFUTED**" in report
    assert "rename-tensors" in report
