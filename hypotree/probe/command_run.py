"""Run a command within bounds: of time, of kept output, and with no child left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, Final

from hypotree.artifact.plain import plain
from hypotree.errors import MisuseError
from hypotree.model.declaration import CommandProbe

#: What is kept of a command's output; the rest is read and thrown away.
MAX_OUTPUT: Final = 64 * 1024
_GRACE_SECONDS: Final = 1.0


def run_bounded(declared: CommandProbe, folder: Path, question: bytes) -> tuple[int, bytes]:
    """The exit code and the kept output; a command beyond its time is killed with its children."""
    executable = shutil.which(declared.command[0]) or declared.command[0]
    with tempfile.TemporaryFile() as stdin:
        stdin.write(question)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                [executable, *declared.command[1:]],
                cwd=folder,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            asked = f"running the command {plain(declared.command[0])}"
            raise MisuseError(asked, error.strerror or str(error)) from error
    assert process.stdout is not None
    kept = bytearray()
    reader = threading.Thread(target=_keep_tail, args=(process.stdout, kept), daemon=True)
    reader.start()
    said = ""
    try:
        code = process.wait(declared.time_limit)
    except subprocess.TimeoutExpired:
        code, said = -signal.SIGKILL, f"no end within {declared.time_limit:g} s"
    finally:
        with contextlib.suppress(ProcessLookupError):  # children, too
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join(_GRACE_SECONDS)
    return code, said.encode() or bytes(kept)


def _keep_tail(output: IO[bytes], kept: bytearray) -> None:
    """Read to the end, keep the last of it."""
    with output:
        while piece := output.read(MAX_OUTPUT):
            kept += piece
            del kept[:-MAX_OUTPUT]
