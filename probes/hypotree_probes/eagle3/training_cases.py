"""Training samples of a small target, right and wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hypotree.artifact.tensor import TensorValue
from hypotree.probe.api import Case
from hypotree_probes.eagle3.aux_identity_cases import IDS, plant_target, states, stored, tokens
from hypotree_probes.eagle3.training_verdicts import LENGTHS, MASK, NORM, SHIFT
from hypotree_probes.planting import ids, mask, safetensors_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def plant_sample(
    folder: Path,
    *,
    text: list[int] | None = None,
    rows: int = 0,
    after: bool = True,
    learnt: list[int] | None = None,
    cut: int = 0,
) -> dict[str, str]:
    """SpecForge's keys, with a text, a shift of the states, a norm, a mask or a cut as given."""
    import torch

    given = plant_target(folder)
    found = states(folder)
    last = found.layers[-1].whole
    final = (found.normed(last) if after else last).roll(rows, 0)
    aux = torch.cat([found.layers[i].whole for i in IDS], dim=-1).roll(rows, 0)
    count = len(tokens())
    sample: dict[str, TensorValue] = {
        "input_ids": ids(text or tokens()),
        "loss_mask": mask(learnt if learnt is not None else list(range(count)), count),
        "aux_hidden_state": stored(aux[: count - cut]),
        "hidden_state": stored(final[: count - cut]),
    }
    path = folder / "sample.safetensors"
    path.write_bytes(safetensors_bytes(sample))
    return {**given, "sample": str(path)}


def _wrong(**what: Any) -> Callable[[Path], Mapping[str, str]]:
    return lambda folder: plant_sample(folder, **what)


def _right(folder: Path) -> Mapping[str, str]:
    return plant_sample(folder)


_ROLLED: Final = [*tokens()[1:], tokens()[0]]

CASES: Final = (
    Case(LENGTHS, _wrong(cut=1), _right, report="I: captured length"),
    Case(MASK, _wrong(learnt=[]), _right, report="I: mask of zeros"),
    Case(SHIFT, _wrong(text=_ROLLED), _right, report="I: shifted twice"),
    Case(SHIFT, _wrong(rows=1), _right, report="I: states of the token before"),
    Case(NORM, _wrong(after=False), _right, report="a dump before the norm, read as after it"),
)
