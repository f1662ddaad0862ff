"""Traces that are dead or cut off, and a whole one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from hypotree.probe.api import Case
from hypotree_probes.eagle3.trace_canary import CUT_OFF, DEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def plant(calls: int, end: int | None) -> Callable[[Path], Mapping[str, str]]:
    """A trace with so many calls, and an end that counts `end` of them (None: no end)."""

    def write(folder: Path) -> Mapping[str, str]:
        hooks = ["model.fc", "model.midlayer"]
        events: list[dict[str, object]] = [{"event": "trace_start", "hooks": hooks}]
        events += [
            {"event": "module_call", "call": n, "phase": "draft_extend", "module": hooks[n % 2]}
            for n in range(calls)
        ]
        if end is not None:
            events.append({"event": "trace_end", "calls": end})
        path = folder / "trace.jsonl"
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        return {"trace": str(path)}

    return write


CASES: Final = (
    Case(DEAD, plant(0, 0), plant(4, 4), report="Q1, vllm#52107: a hook that never fired"),
    Case(CUT_OFF, plant(4, None), plant(4, 4), report="the process was killed"),
    Case(CUT_OFF, plant(3, 4), plant(4, 4), report="lines were lost"),
)
