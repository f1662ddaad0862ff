"""Sketch: the shape of a large session's tree before its journal was verified.

Verifying a hundred thousand lines takes seconds; reading names and claims out of them, a tenth of
one. A sketch knows no standing, no evidence and no write, so nothing of it can be taken for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from hypotree.model.declaration import SYMPTOM, Hypothesis
from hypotree.tui.board import Shape

#: Smaller journals are verified sooner than a sketch is worth.
WORTH: Final = 2_000_000


class _Declaration(msgspec.Struct):
    hypotheses: dict[str, Hypothesis] = {}


class _Event(msgspec.Struct):
    id: str = ""
    hypothesis: Hypothesis | None = None
    declaration: _Declaration | None = None


class _Line(msgspec.Struct):
    event: _Event


def sketch(journal: Path) -> Shape | None:
    """Names, parents and claims; None where that is not worth it or the file says otherwise."""
    try:
        if journal.stat().st_size < WORTH:
            return None
        return _shape(journal.read_bytes())
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _shape(data: bytes) -> Shape:
    decoder = msgspec.json.Decoder(_Line)
    found: dict[str, Hypothesis] = {}
    for text in data.split(b"\n")[:-1]:
        event = decoder.decode(text).event
        if event.hypothesis is not None:
            found[event.id] = event.hypothesis
        elif event.declaration is not None:
            found |= event.declaration.hypotheses
    children: dict[str, list[str]] = {}
    for node, hypothesis in found.items():
        children.setdefault(hypothesis.parent if hypothesis.parent != node else SYMPTOM, []).append(
            node
        )
    return Shape(found, {node: tuple(below) for node, below in children.items()})
