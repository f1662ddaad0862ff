"""One incident for all front-end tests: the demo is played once, and copied."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hypotree_probes.incident.make import make_incident


@pytest.fixture(scope="session")
def made_incident(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("incident") / "made"
    folder.mkdir()
    make_incident(folder)
    return folder


@pytest.fixture
def incident(made_incident: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "incident"
    shutil.copytree(made_incident, folder)
    return folder
