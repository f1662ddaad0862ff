"""A file that lives in memory, as every reader takes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hypotree.errors import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypotree.artifact.files import ByteFile

CASES = Path(__file__).resolve().parents[2] / "cases"


class MemoryFile:
    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    def read(self, offset: int, length: int) -> bytes:
        assert offset >= 0
        assert length >= 0
        if offset + length > len(self._data):
            asked = f"reading {length} bytes at {offset}"
            raise UnreadableError(asked, f"the file ends after {len(self._data)}")
        return self._data[offset : offset + length]


@pytest.fixture(scope="session")
def as_file() -> Callable[[bytes], ByteFile]:
    return MemoryFile


@pytest.fixture(scope="session")
def producers() -> list[Path]:
    """Checkpoints saved by the real speculators 0.9.0 and SpecForge 0.2.0."""
    found = sorted((CASES / "producers").glob("*/model.safetensors"))
    assert len(found) == 4
    return found
