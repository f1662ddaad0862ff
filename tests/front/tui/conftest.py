"""A small session with a fault that can be confirmed, fixed and undone in a moment."""

from __future__ import annotations

from pathlib import Path

import pytest
from kit import BELIEF, REPAIR, World

#: As SGLang logs a decode batch.
DECODE = (
    "[2026-03-01 12:00:00] Decode batch, #running-req: 1, #token: 900, token usage: 0.01, "
    "accept len: {:.2f}, accept rate: {:.2f}, cuda graph: True, gen throughput (token/s): 60.0\n"
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """H1 is so and can be repaired, H2 is the wrong belief below it; writes need a person."""
    made = World(tmp_path)
    made.document["symptom"] = {
        "what": "almost no draft token is accepted",
        "probe": "acceptance-log",
        "inputs": {"log": "log"},
    }
    made.document["policy"] = {"approve": "ask", "rivals": "off"}
    made.log.write_text(DECODE.format(1.05, 0.21) * 20)
    made.declare(H1=dict(REPAIR), H2={**BELIEF, "parent": "H1"})
    made.open()
    return made


@pytest.fixture
def proven(world: World) -> World:
    """The same with H1 confirmed."""
    world.open().run("H1")
    return world
