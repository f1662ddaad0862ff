"""Aux layer ids: which physical outputs S_j a training run meant by its numbers.

Source (facts/eagle3.md section 5): S_j is the output of decoder layer j. speculators and EAGLE
count as HF's `hidden_states` do, S_j is j + 1; SpecForge, ModelOpt and TensorRT-LLM say j.
Every producer's default is S_1, S_{n//2-1}, S_{n-4}. Inside SGLang index i stands for the
input of layer i, that is S_{i-1}. A capture is a set: order says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

TOP: Final = "eagle_aux_hidden_state_layer_ids"
NESTED: Final = f"eagle_config.{TOP}"
_RUN_FILE: Final = "aux_hidden_state_layer_ids"


@dataclass(frozen=True)
class Trained:
    """What training captured."""

    layers: tuple[int, ...]
    said: str
    """Where that stands, and how it was counted."""
    is_default: bool = False


def physical(indices: Sequence[int]) -> tuple[int, ...]:
    """SGLang's internal indices as outputs S_j."""
    return tuple(sorted({index - 1 for index in indices}))


def trained_layers(config: Mapping[str, object], count: int | None) -> Trained | None:
    """The outputs that a training config names; None if it names none and `count` is not known."""
    if "speculators_model_type" in config or "speculators_config" in config:
        ids = _ids(config.get(TOP))
        if ids is not None:
            found = tuple(sorted({value - 1 for value in ids}))
            return Trained(found, f"speculators' {TOP} {list(ids)}, counted from the embeddings")
        return _default(count)
    eagle = config.get("eagle_config")
    ids = _ids(eagle.get(TOP)) if isinstance(eagle, dict) else None
    said = NESTED
    model = config.get("model")
    if ids is None and isinstance(model, dict):
        ids, said = _ids(model.get(_RUN_FILE)), f"model.{_RUN_FILE}"
    if ids is None:
        return _default(count)
    return Trained(tuple(sorted(set(ids))), f"{said} {list(ids)}, counted from the first layer")


def _default(count: int | None) -> Trained | None:
    if count is None:
        return None
    return Trained((1, count // 2 - 1, count - 4), "no ids: every producer's default", True)  # noqa: FBT003


def _ids(value: object) -> tuple[int, ...] | None:
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        return tuple(value)
    return None


def shift(served: Sequence[int], trained: Sequence[int]) -> int | None:
    """By how many layers every capture is off, None if not all by the same number."""
    if len(served) != len(trained):
        return None
    differences = {a - b for a, b in zip(sorted(served), sorted(trained), strict=True)}
    return differences.pop() if len(differences) == 1 else None


def words(layers: Sequence[int]) -> str:
    """S_1, S_13, S_24."""
    return ", ".join(f"S_{layer}" for layer in layers)
