"""Planted maps and their healthy twins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hypotree.artifact.tensor import TensorValue
from hypotree.probe import Case
from hypotree_probes.planting import blank, ids, mask, plant_checkpoint, safetensors_bytes

#: Target ids of eight draft ids in a vocabulary of 64; ascending, as the producers sort them.
_TARGETS = [0, 1, 5, 9, 20, 21, 40, 63]
_OFFSETS = [t - i for i, t in enumerate(_TARGETS)]
_VOCABULARY = 64

Build = Callable[[Path], Mapping[str, str]]


def _draft(
    folder: Path, d2t: TensorValue | None, t2d: TensorValue | None = None, *, size: int = 8
) -> str:
    tensors = {"lm_head.weight": blank("BF16", size, 4)}
    tensors |= {"d2t": d2t} if d2t else {}
    tensors |= {"t2d": t2d} if t2d else {}
    config = {"vocab_size": _VOCABULARY, "draft_vocab_size": size, "hidden_size": 4}
    return plant_checkpoint(folder, tensors, config)


def _with_truth(d2t: TensorValue | None) -> Build:
    def build(folder: Path) -> Mapping[str, str]:
        truth = folder / "truth.safetensors"
        truth.write_bytes(safetensors_bytes({"d2t": ids(_OFFSETS)}))
        return {"draft": _draft(folder, d2t), "truth": str(truth)}

    return build


def _alone(d2t: TensorValue, t2d: TensorValue | None = None) -> Build:
    return lambda folder: {"draft": _draft(folder, d2t, t2d)}


_healthy = _with_truth(ids(_OFFSETS))
_swapped = [_OFFSETS[0], _OFFSETS[1], 7, 2, *_OFFSETS[4:]]

CASES = (
    Case("d2t.absolute-ids", _with_truth(ids(_TARGETS)), _healthy, report="verl-SpeCo#67"),
    Case("d2t.double-subtracted", _with_truth(ids([v - i for i, v in enumerate(_OFFSETS)])), _healthy,
         report="the founding incident"),
    Case("d2t.missing", _with_truth(None), _healthy, report="Automodel#2447"),
    Case("d2t.never-loaded", _with_truth(ids([0] * 8)), _healthy),
    Case("d2t.disagrees-with-source", _with_truth(ids(_swapped)), _healthy),
    Case("d2t.out-of-range", _alone(ids([*_OFFSETS[:7], 60])), _alone(ids(_OFFSETS))),
    Case("d2t.duplicate-targets", _alone(ids([*_OFFSETS[:7], 33])), _alone(ids(_OFFSETS))),
    Case("d2t.length-mismatch", _alone(ids(_OFFSETS[:5])), _alone(ids(_OFFSETS)), report="EAGLE#248"),
    Case("d2t.dtype", _alone(blank("BF16", 8)), _alone(ids(_OFFSETS))),
    Case("d2t.disagrees-with-t2d", _alone(ids(_OFFSETS), mask(_TARGETS[:5], _VOCABULARY)),
         _alone(ids(_OFFSETS), mask(_TARGETS, _VOCABULARY)), report="EAGLE#248"),
)  # fmt: skip
