"""What all tests share: a state folder of their own, and no token from outside."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens go to a folder of the test's; who runs the suite is nobody's agent."""
    state: Path = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    # No cached wheel decides what a test sees; those that want one ask for it.
    monkeypatch.setenv("HYPOTREE_ENGINE_CACHE", str(state / "engines"))
    monkeypatch.delenv("HYPOTREE_TOKEN", raising=False)
    monkeypatch.delenv("HYPOTREE_ACTOR", raising=False)
