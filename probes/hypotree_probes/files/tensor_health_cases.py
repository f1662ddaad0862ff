"""Planted values and their healthy twins: a head of hidden size 16."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from hypotree.artifact.tensor import TensorValue
from hypotree.probe.api import Case
from hypotree_probes.files.tensor_verdicts import ALL_ZERO, NONFINITE
from hypotree_probes.planting import blank, plant_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

H: Final = 16
_CONFIG: Final = {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama"}


def bf16(values: list[float], *shape: int) -> TensorValue:
    """A BF16 tensor: the upper halves of F32 values."""
    halves = array("H", array("f", values).tobytes())[1::2]
    return TensorValue("BF16", shape, halves.tobytes())


def plain_weight(rows: int, columns: int) -> TensorValue:
    """Small values of both signs, none of them whole."""
    values = [((i * 37) % 101 - 50) / 512 + 0.001 for i in range(rows * columns)]
    return bf16(values, rows, columns)


def plant_head(folder: Path, changed: Mapping[str, TensorValue]) -> dict[str, str]:
    """A small head, with some tensors as given."""
    tensors = {
        "fc.weight": plain_weight(H, 3 * H),
        "midlayer.self_attn.q_proj.weight": plain_weight(H, 2 * H),
        "midlayer.self_attn.q_proj.bias": blank("BF16", H),
        "midlayer.hidden_norm.weight": bf16([1.0] * H, H),
        "norm.weight": bf16([1.0] * H, H),
        "lm_head.weight": plain_weight(32, H),
    }
    return {"draft": plant_checkpoint(folder, {**tensors, **changed}, _CONFIG)}


def _with(name: str, value: TensorValue) -> Callable[[Path], Mapping[str, str]]:
    return lambda folder: plant_head(folder, {name: value})


def _healthy(folder: Path) -> Mapping[str, str]:
    """Biases of zeros, norms of ones, an additive mask: all of it harmless."""
    mask = bf16([float("-inf") if i % 5 else 0.0 for i in range(25)], 5, 5)
    return plant_head(folder, {"attn_mask": mask})


_NAN, _INF = float("nan"), float("inf")
_ONE_BAD = [0.01] * (H * H - 1)

CASES: Final = (
    Case(NONFINITE, _with("lm_head.weight", bf16([_NAN] * 32 * H, 32, H)), _healthy, report="F23"),
    Case(
        NONFINITE, _with("o.weight", bf16([*_ONE_BAD, _NAN], H, H)), _healthy, report="F23, a scale"
    ),
    Case(NONFINITE, _with("o.weight", bf16([_INF, *_ONE_BAD], H, H)), _healthy),
    Case(
        NONFINITE,
        _with("o.weight", TensorValue("F16", (2, 2), b"\0\0\1\x7c\0\0\0\0")),
        _with("o.weight", TensorValue("F16", (2, 2), b"\0\0\xff\x7b\0\0\0\0")),
        report="the smallest NaN of F16 beside its largest number",
    ),
    Case(
        NONFINITE,
        _with("o.weight", TensorValue("F8_E4M3", (2, 2), b"\x01\x7f\x02\x03")),
        _with("o.weight", TensorValue("F8_E4M3", (2, 2), b"\x01\x7e\x02\x03")),
        report="NaN of an 8-bit weight",
    ),
    Case(ALL_ZERO, _with("fc.weight", blank("BF16", H, 3 * H)), _healthy),
    Case(ALL_ZERO, _with("norm.weight", blank("BF16", H)), _healthy),
    Case(
        ALL_ZERO,
        _with("midlayer.mlp.up_proj.weight", blank("F32", 4, 4)),
        _with("midlayer.mlp.up_proj.bias", blank("F32", 4)),
        report="zeros of a weight, and of a bias",
    ),
)
