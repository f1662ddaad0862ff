"""What to do next: one command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from hypotree.model.declaration import SYMPTOM
from hypotree.tree.replay import SessionState
from hypotree.tree.standing import Standing


class _Node(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def standing(self) -> str: ...
    @property
    def fix(self) -> str: ...


def next_step(folder: Path, state: SessionState, nodes: Sequence[_Node]) -> str:
    """The most useful command now, in words that can be pasted; "" if nothing is left to do."""
    session = shlex.quote(str(folder))
    by_standing = {node.standing: node for node in reversed(nodes)}
    if not state.evidence.get(SYMPTOM) and state.symptom.measures():
        return f"measure the symptom: hypotree probe run --session {session} {SYMPTOM}"
    if node := by_standing.get(Standing.FIXED_WORSE):
        return f"{node.id} made it worse: hypotree undo --session {session}"
    if node := by_standing.get(Standing.STALE):
        return f"run again what is stale: hypotree probe run --session {session} {node.id}"
    if node := by_standing.get(Standing.UNTESTED):
        return f"test the next hypothesis: hypotree probe run --session {session} {node.id}"
    writable = [n for n in nodes if n.standing == Standing.CONFIRMED and n.fix != "advice"]
    if writable:
        return f"plan its fix: hypotree fix plan --session {session} {writable[0].id}"
    if Standing.FIXED_NOT_MEASURED in by_standing:
        return "measure the symptom again: attach a new log or declare a replay (symptom.replay)"
    if node := by_standing.get(Standing.CONFIRMED):
        return f"{node.id} is confirmed and no fix can write it: follow its advice (hypotree show)"
    if Standing.FIXED_UNMOVED in by_standing:
        return "the fix is in and the symptom has not moved: add the next hypothesis (hypotree add)"
    return "" if Standing.FIXED_MOVED in by_standing else "add a hypothesis (hypotree add)"
