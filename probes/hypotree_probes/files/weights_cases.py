"""Two checkpoints that differ, and two that only look it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.probe.api import Case
from hypotree_probes.files.tensor_health_cases import bf16, plain_weight
from hypotree_probes.files.weights_identity import DIFFER
from hypotree_probes.planting import plant_checkpoint, safetensors_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hypotree.artifact.tensor import TensorValue


def tensors() -> dict[str, TensorValue]:
    """Two of them."""
    return {"fc.weight": plain_weight(4, 8), "norm.weight": bf16([1.0] * 8, 8)}


def plant_pair(folder: Path, draft: Mapping[str, TensorValue]) -> dict[str, str]:
    """A checkpoint of one file, and the truth in two shards."""
    truth = folder / "truth"
    truth.mkdir()
    for number, (name, value) in enumerate(tensors().items(), start=1):
        shard = truth / f"model-0000{number}-of-00002.safetensors"
        shard.write_bytes(safetensors_bytes({name: value}))
    return {"draft": plant_checkpoint(folder, draft), "truth": str(truth)}


def _with(draft: Mapping[str, TensorValue]) -> Callable[[Path], Mapping[str, str]]:
    return lambda folder: plant_pair(folder, draft)


CASES: Final = (
    Case(
        DIFFER,
        _with({**tensors(), "norm.weight": bf16([*([1.0] * 7), 1.25], 8)}),
        _with(tensors()),
        report="L: the drafter missed a weight update",
    ),
    Case(
        DIFFER,
        _with(
            {"midlayer.fc.weight": tensors()["fc.weight"], "norm.weight": tensors()["norm.weight"]}
        ),
        _with(dict(reversed(tensors().items()))),
        report="a renamed tensor; another order is no difference",
    ),
)
