"""Where the incident's data lies."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_DATA: Final = Path(__file__).parent / "files"


def data_file(name: str) -> Path:
    """One file of the incident's session: its YAML, its weights.

    `files` is a link to `sessions/kimi-k25-zero-acceptance` in a checkout, and a
    folder of its own in a wheel.
    """
    return _DATA / name
