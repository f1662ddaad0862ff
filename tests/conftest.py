"""Makes `kit` importable for every test below; puts no state folder of a person at risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_person_here(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tokens live in a folder of the test's own; no actor and no token leaks in from outside."""
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    for name in ("HYPOTREE_ACTOR", "HYPOTREE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return state
