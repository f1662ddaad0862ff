"""What leaves the screen: the clipboard, the editor, a command that shows the same."""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hypotree.atomic import write_file
from hypotree.model.declaration import SYMPTOM
from hypotree.tui.lines import Place

_MOST: Final = 74_000
"""Terminals drop longer OSC 52 texts; xterm's limit is the smallest in use."""


@dataclass(frozen=True)
class Copied:
    """How a copy went: whether it is known to have arrived, and what to tell."""

    is_sure: bool
    said: str


def copy(
    text: str, write: Callable[[str], object], state: Path, environ: Mapping[str, str]
) -> Copied:
    """Put `text` on the clipboard by the best way here; a file keeps it where none is sure."""
    if environ.get("TMUX") and (told := _by_tmux(text, environ)):
        return Copied(is_sure=True, said=told)
    kept = _keep(text, state)
    if len(text) > _MOST or environ.get("TERM", "") in {"", "dumb", "linux"}:
        return Copied(is_sure=False, said=f"this terminal takes no copy; it is in {kept}")
    write(osc52(text, environ))
    return Copied(is_sure=False, said=f"sent to the terminal (OSC 52, unconfirmed), and in {kept}")


def osc52(text: str, environ: Mapping[str, str]) -> str:
    """The escape sequence, wrapped for tmux or GNU screen where one of them is between."""
    sequence = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\a"
    if environ.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if environ.get("TERM", "").startswith("screen"):
        return f"\x1bP{sequence}\x1b\\"
    return sequence


def _by_tmux(text: str, environ: Mapping[str, str]) -> str:
    """tmux sets its buffer and, with -w, the outer terminal's clipboard; "" if it did not."""
    tmux = shutil.which("tmux")
    if tmux is None:
        return ""
    try:
        done = subprocess.run(
            [tmux, "load-buffer", "-w", "-"], input=text.encode(), env=dict(environ),
            capture_output=True, timeout=2, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "copied to tmux's buffer and its terminal's clipboard" if done.returncode == 0 else ""


def _keep(text: str, state: Path) -> str:
    path = state / "copied.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(path, text.encode() + b"\n", mode=0o600)
    except OSError as error:
        return f"no file ({error.strerror})"
    return str(path)


def editor_command(place: Place, environ: Mapping[str, str]) -> list[str]:
    """The command that opens a file at a line in the user's editor; empty if there is none."""
    named = environ.get("VISUAL") or environ.get("EDITOR") or _any_editor()
    if not named:
        return []
    argv = shlex.split(named)
    program = Path(argv[0]).name
    if program in {"code", "codium", "cursor", "windsurf"}:
        return [*argv, "--wait", "--goto", f"{place.path}:{place.line}"]
    if program in {"hx", "helix", "subl", "zed"}:
        return [*argv, f"{place.path}:{place.line}"]
    return [*argv, f"+{place.line}", place.path]


def _any_editor() -> str:
    return next((name for name in ("nano", "vim", "vi") if shutil.which(name)), "")


def is_text(path: str, size: int = 4096) -> bool:
    """Whether an editor would show it as text; tensors are for the inspector."""
    try:
        with Path(path).open("rb") as file:
            return b"\0" not in file.read(size)
    except OSError:
        return False


def same_on_the_command_line(folder: Path, node: str, tab: str, focus: str) -> str:
    """The command that shows what is on the screen now."""
    session = shlex.quote(str(folder))
    if focus == "journal":
        return f"hypotree journal show {session}"
    if tab == "fix" and node != SYMPTOM:
        return f"hypotree fix plan --session {session} {shlex.quote(node)}"
    if tab in {"artifacts", "trace", "notes"}:
        return f"hypotree show --tree {session}"
    return f"hypotree probe run --session {session} {shlex.quote(node)}"


def free_name(folder: Path, stem: str, suffix: str) -> Path:
    """A name that is not taken: nothing is written over unasked."""
    taken = {entry.name for entry in os.scandir(folder)} if folder.is_dir() else set()
    names = [f"{stem}{suffix}", *(f"{stem}-{n}{suffix}" for n in range(2, len(taken) + 3))]
    return folder / next(name for name in names if name not in taken)
