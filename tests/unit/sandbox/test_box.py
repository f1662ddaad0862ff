"""A boxed process writes only its scratch, connects nowhere, and ends at its limits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hypotree.sandbox.landlock import abi_version

needs_landlock = pytest.mark.skipif(not abi_version(), reason="this kernel has no Landlock")


def boxed(tmp_path: Path, body: str) -> subprocess.CompletedProcess[str]:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    code = (
        "from pathlib import Path\nfrom hypotree.sandbox import Box, enter\n"
        f"guard = enter(Box(Path({str(scratch)!r}), 1 << 30, 5))\n{body}"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


@needs_landlock
def test_nothing_but_the_scratch_can_be_written(tmp_path: Path) -> None:
    held = tmp_path / "held"
    held.write_text("before")
    for attempt in (
        f"open({str(held)!r}, 'w')",
        f"open({str(tmp_path / 'new')!r}, 'w')",
        f"Path({str(held)!r}).unlink()",
        f"Path({str(tmp_path / 'dir')!r}).mkdir()",
    ):
        assert "PermissionError" in boxed(tmp_path, attempt).stderr
    assert held.read_text() == "before"
    assert boxed(tmp_path, f"open({str(tmp_path / 'scratch' / 'x')!r}, 'w')").returncode == 0


@needs_landlock
def test_tcp_is_closed_from_abi_4(tmp_path: Path) -> None:
    if abi_version() < 4:
        pytest.skip("network rules came with ABI 4")
    done = boxed(tmp_path, "import socket; socket.create_connection(('127.0.0.1', 9), 1)")
    assert "PermissionError" in done.stderr


def test_memory_is_bounded(tmp_path: Path) -> None:
    assert "MemoryError" in boxed(tmp_path, "bytearray(2 << 30)").stderr


def test_processor_time_is_bounded(tmp_path: Path) -> None:
    assert (
        boxed(
            tmp_path, "import resource as r; r.setrlimit(r.RLIMIT_CPU, (1, 1))\nwhile 1: 0"
        ).returncode
        < 0
    )


def test_what_holds_is_said(tmp_path: Path) -> None:
    said = boxed(tmp_path, "print(guard)").stdout
    assert "Landlock" in said
