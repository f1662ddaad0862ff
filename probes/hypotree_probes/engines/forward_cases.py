"""Planted faults and healthy twins for forward-trace, on the small engine with random weights."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from hypotree.artifact.tensor import TensorValue
from hypotree.probe import Case
from hypotree_probes.engines.capture_cases import guarded_wrapper, plant_target
from hypotree_probes.engines.coverage_cases import HEALTHY_CONFIG, healthy_tensors
from hypotree_probes.engines.tiny import plant_engine
from hypotree_probes.engines.tiny.package import MODEL_FILE, Change
from hypotree_probes.planting import plant_checkpoint

Tensors = dict[str, TensorValue]
Plant = Callable[[Path], Mapping[str, str]]

#: Joined the other way round: the same shapes, another function.
_SWAPPED: Final[Mapping[str, Change]] = {
    MODEL_FILE: (
        "[self.input_layernorm(embeds), normed]", "[normed, self.input_layernorm(embeds)]",
    )
}  # fmt: skip


def _random_tensors() -> Tensors:
    """The healthy draft with values: a zero weight computes nothing that could differ."""
    source = random.Random(0)  # noqa: S311 - reproducible weights, no secret
    return {
        name: _drawn(source, value.shape) if value.dtype == "BF16" else value
        for name, value in healthy_tensors("midlayer").items()
    }


def _drawn(source: random.Random, shape: tuple[int, ...]) -> TensorValue:
    count = 1
    for size in shape:
        count *= size
    drawn = (source.gauss(1.0 if len(shape) == 1 else 0.0, 0.3) for _ in range(count))
    return TensorValue("F32", shape, struct.pack(f"<{count}f", *drawn))


def _filled(value: float) -> Callable[[Tensors], None]:
    def change(tensors: Tensors) -> None:
        shape = tensors["lm_head.weight"].shape
        count = shape[0] * shape[1]
        data = struct.pack(f"<{count}f", *([value] * count))
        tensors["lm_head.weight"] = TensorValue("F32", shape, data)

    return change


def _place(
    changes: Mapping[str, Change] | None = None,
    change: Callable[[Tensors], None] = lambda _: None,
    *,
    with_target: bool = False,
) -> Plant:
    def write(folder: Path) -> Mapping[str, str]:
        tensors = _random_tensors()
        change(tensors)
        given = {
            "draft": plant_checkpoint(folder, tensors, HEALTHY_CONFIG),
            "engine": plant_engine(folder, changes),
        }
        return given | ({"target": plant_target(folder)} if with_target else {})

    return write


def _trace(*, alive: bool) -> Plant:
    def write(folder: Path) -> Mapping[str, str]:
        events: list[dict[str, object]] = [{"event": "trace_start", "hooks": ["model.fc"]}]
        if alive:
            call = {
                "event": "module_call",
                "call": 0,
                "phase": "draft_extend",
                "module": "model.fc",
            }
            events.append(call)
        events.append({"event": "trace_end", "calls": int(alive)})
        file = folder / "trace.jsonl"
        file.write_text("".join(f"{json.dumps(event)}\n" for event in events))
        return {"draft": plant_checkpoint(folder, _random_tensors(), HEALTHY_CONFIG),
                "trace": str(file)}  # fmt: skip

    return write


_HEALTHY: Final = _place()

CASES: Final = (
    Case("trace.module-not-fired", _place(guarded_wrapper(), with_target=True),
         _place(with_target=True), report="F10 F31"),
    Case("trace.stage-diverges", _place(_SWAPPED), _HEALTHY),
    Case("trace.nonfinite", _place(change=_filled(float("nan"))), _HEALTHY, report="F23"),
    Case("trace.constant-logits", _place(change=_filled(0.0)), _HEALTHY),
    Case("trace.hook-never-fired", _trace(alive=False), _trace(alive=True), report="Q1 vllm#52107"),
)  # fmt: skip
