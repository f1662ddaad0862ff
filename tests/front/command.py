"""Run the real command as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def hypotree(*argv: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "hypotree", *argv],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )


def hypotree_json(*argv: str, cwd: Path | None = None, **env: str) -> tuple[int, Any]:
    done = hypotree(*argv, "--json", cwd=cwd, **env)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)
