"""A demo as data: what it makes, and the commands it plays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Step:
    """One real command with what to say before it and the exit code it must end with."""

    say: str
    argv: tuple[str, ...]
    exit_code: int = 0
    as_person: bool = False
    """Whether a person agrees to it (by the session's token)."""
    by_hand: Callable[[Path], None] | None = None
    """What somebody does behind the tool's back before the command."""
    hand: str = ""
    """That, in words."""


@dataclass(frozen=True)
class Story:
    """A demo: `make` writes its artifacts and session into an empty folder."""

    name: str
    title: str
    make: Callable[[Path], None]
    steps: tuple[Step, ...]
    ending: str
