"""Planted faults and healthy twins of aux-width: a head of hidden size 16."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hypotree.probe.api import Case
from hypotree_probes.eagle3.fusion_bypass import BYPASSED, DISABLED
from hypotree_probes.eagle3.fusion_width import MISMATCH
from hypotree_probes.planting import blank, plant_checkpoint, safetensors_bytes

if TYPE_CHECKING:
    from pathlib import Path

H: Final = 16
_IDS: Final = "eagle_aux_hidden_state_layer_ids"
_Locators = Mapping[str, str]


def plant_head(
    folder: Path, parts: int = 3, eagle: Mapping[str, object] | None = None
) -> dict[str, str]:
    """A draft whose fc joins `parts` states (0: no fc), with the given eagle_config."""
    tensors = {"norm.weight": blank("F32", H)}
    if parts:
        tensors["fc.weight"] = blank("F32", H, parts * H)
    config: dict[str, object] = {"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": H}
    if eagle is not None:
        config["eagle_config"] = dict(eagle)
    return {"draft": plant_checkpoint(folder, tensors, config)}


def plant_target(folder: Path) -> dict[str, str]:
    """A multimodal target of the same hidden size: a config.json with a nested text_config."""
    target = folder / "target"
    target.mkdir()
    (target / "config.json").write_text(json.dumps({"text_config": {"hidden_size": H}}))
    return {"target": str(target)}


def plant_trace(folder: Path, *, fused: bool) -> dict[str, str]:
    """A whole trace of one first and one recurrent draft step, with fc run or skipped."""
    events: list[dict[str, object]] = [
        {"event": "trace_start", "engine": "sglang", "hooks": ["model.fc", "model.midlayer"]}
    ]
    if fused:
        events.append(_call("draft_extend", "model.fc", [5, 3 * H]))
    events += [_call("draft_extend", "model.midlayer", [5, H], [5, H])]
    events += [_call("draft_decode", "model.midlayer", [1, H], [1, H])]
    events.append({"event": "trace_end", "calls": len(events) - 1})
    return {"trace": _lines(folder / "trace.jsonl", [json.dumps(event) for event in events])}


def _call(phase: str, module: str, *shapes: list[int]) -> dict[str, object]:
    return {
        "event": "module_call", "call": 0, "phase": phase, "module": module, "in_shapes": shapes,
        "out_shapes": [[shapes[0][0], H]],
    }  # fmt: skip


def plant_log(folder: Path, width: int) -> dict[str, str]:
    """A server log in which somebody printed the shape of the states."""
    printed = f"[draft] hidden_states.shape=torch.Size([5, {width}])"
    return {"log": _lines(folder / "server.log", ["server started", printed])}


def plant_sample(folder: Path, width: int) -> dict[str, str]:
    """Recorded states of five tokens."""
    path = folder / "handed.safetensors"
    path.write_bytes(safetensors_bytes({"hidden_states": blank("F32", 5, width)}))
    return {"sample": str(path)}


def _lines(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def _with_ids(folder: Path, parts: int) -> _Locators:
    head = plant_head(folder, parts, {_IDS: [1, 5, 9, 13]})
    return {**head, **plant_target(folder)}


def _off(folder: Path, parts: int) -> _Locators:
    head = plant_head(folder, parts, {"use_aux_hidden_state": False})
    return {**head, "engine": "sglang@0.5.12"}


def _on(folder: Path) -> _Locators:
    head = plant_head(folder, 3, {"use_aux_hidden_state": True})
    return {**head, "engine": "sglang@0.5.12", **plant_trace(folder, fused=True)}


CASES: Final = (
    Case(MISMATCH, lambda f: _with_ids(f, 3), lambda f: _with_ids(f, 4), report="F09"),
    Case(
        BYPASSED,
        lambda f: {**plant_head(f), **plant_trace(f, fused=False)},
        lambda f: {**plant_head(f), **plant_trace(f, fused=True)},
        report="the founding incident, traced",
    ),
    Case(
        BYPASSED,
        lambda f: {**plant_head(f), **plant_log(f, H)},
        lambda f: {**plant_head(f), **plant_log(f, 3 * H)},
        report="the founding incident, printed",
    ),
    Case(
        BYPASSED,
        lambda f: {**plant_head(f), **plant_sample(f, H)},
        lambda f: {**plant_head(f), **plant_sample(f, 3 * H)},
        report="the founding incident, recorded",
    ),
    Case(BYPASSED, lambda f: _off(f, 3), _on, report="F10"),
    Case(DISABLED, lambda f: _off(f, 3), _on, report="F10"),
    Case(DISABLED, lambda f: _off(f, 3), lambda f: _off(f, 0), report="F10; gpt-oss v2 heads"),
    Case(
        DISABLED,
        lambda f: {
            **plant_head(f, 3, {"use_aux_hidden_state": False}), **plant_trace(f, fused=False),
        },
        lambda f: {
            **plant_head(f, 3, {"use_aux_hidden_state": False}), **plant_trace(f, fused=True),
        },
        report="F10 on an engine of unknown version",
    ),
)  # fmt: skip
