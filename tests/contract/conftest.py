"""A world on disk for the contracts that are driven, with the stranger's probes installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kit import World, acme_installed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with acme_installed(monkeypatch):
        yield World(tmp_path)
