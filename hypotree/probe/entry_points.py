"""Entry points of installed distributions, read from their files.

importlib.metadata would cost twice what a whole d2t verdict does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from hypotree.errors import ToolError


def entry_points(group: str) -> Mapping[str, str]:
    """Name to `module:attribute`; two declarations of one name that differ are an error."""
    found: dict[str, str] = {}
    for name, target in _entries(group):
        if found.setdefault(name, target) != target:
            raise ToolError(
                f"finding {name!r} in {group}",
                f"it is declared twice: {found[name]} and {target}",
                "uninstall one: what opens a gate must not be shadowed",
            )
    return found


def _entries(group: str) -> Iterator[tuple[str, str]]:
    for folder in dict.fromkeys(sys.path):
        if folder and Path(folder).is_dir():
            for name in os.listdir(folder):
                if name.endswith((".dist-info", ".egg-info")):
                    yield from _declared_in(Path(folder, name, "entry_points.txt"), group)


def _declared_in(file: Path, group: str) -> Iterator[tuple[str, str]]:
    try:
        text = file.read_text("utf-8")
    except OSError:
        return
    if f"[{group}]" not in text:
        return
    section = text.split(f"[{group}]", 1)[1].split("\n[", 1)[0]
    for line in section.splitlines():
        name, equals, target = line.partition("=")
        if equals:
            yield name.strip(), target.strip()
