"""Run somebody's own repair script on a copy, in a box, and say in edits what it did."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.plain import plain
from hypotree.errors import MisuseError, ToolError
from hypotree.sandbox.launch import NO_BOX

#: Stands for the copy's folder in the command; the command also starts in it.
PLACEHOLDER = "{draft}"
_SECONDS = 900
_MAX_OUTPUT = 4000


@contextmanager
def script_result(subject: Checkpoint, command: tuple[str, ...]) -> Iterator[Checkpoint]:
    """The checkpoint that `command` leaves of a copy of `subject`; gone when the block ends.

    The command may write only below its scratch folder and reaches no network.
    `MisuseError` if it fails; `ToolError` where nothing can hold it.
    """
    if not command:
        raise MisuseError("planning a script", "it does not say which command")
    with tempfile.TemporaryDirectory(prefix="hypotree-script-") as scratch:
        copy = Path(scratch, "draft")
        copy.mkdir()
        for name in subject.tree.names():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(subject.tree.identity(name).path), copy / name)
        _run(tuple(part.replace(PLACEHOLDER, str(copy)) for part in command), copy, Path(scratch))
        name = subject.shards()[0] if subject.is_single_file else ""
        yield Checkpoint(str(copy / name) if name else str(copy))


def _run(command: tuple[str, ...], copy: Path, scratch: Path) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    boxed = [
        sys.executable,
        "-m",
        "hypotree.sandbox.launch",
        str(scratch),
        str(memory),
        str(_SECONDS),
    ]
    folders = {key: str(scratch) for key in ("TMPDIR", "HOME", "XDG_CACHE_HOME")}
    path = os.pathsep.join(part for part in sys.path if part)
    try:
        done = subprocess.run(
            [*boxed, *command],
            cwd=copy,
            env={**os.environ, **folders, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MisuseError("running the script", str(error)) from error
    if done.returncode == NO_BOX:
        raise ToolError(
            "running the script", "this machine has no Landlock to hold it in",
            "run it by hand on a copy, and diagnose the copy",
        )  # fmt: skip
    if done.returncode:
        said = plain(done.stderr.decode("utf-8", "replace").strip()[-_MAX_OUTPUT:], 600)
        raise MisuseError("running the script", f"it ended with status {done.returncode}: {said}")
