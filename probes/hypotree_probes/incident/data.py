"""Where the incident's data lies: in the installed package, or in `sessions/` of a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SESSION: Final = "kimi-k25-zero-acceptance"


def data_file(name: str) -> Path:
    """One file of the incident's session: its YAML, its weights."""
    installed = Path(__file__).parent / "data" / name
    checkout = Path(__file__).parents[3] / "sessions" / SESSION / name
    return installed if installed.is_file() else checkout
