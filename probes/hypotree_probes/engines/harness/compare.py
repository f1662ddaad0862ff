"""Stage by stage: the engine's forward beside the plain-torch reference on the same weights.

Tolerance: each stage may differ by `TOLERANCE` of the reference's largest value in float32;
half precision may differ by a twentieth, since both sides round where they like.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import Tensor

from hypotree_probes.eagle3.reference import DraftConfig, Drafter, KVCache

TOLERANCE: Final = 1e-5
_HALF: Final = 5e-2
#: Reference stage to the ends of the module paths that compute it, in order of computation.
STAGES: Final = (
    ("fused", (".fc", "fc")),
    ("embedded", ("input_layernorm",)),
    ("normed", ("hidden_norm",)),
    ("attended", ("o_proj",)),
    ("output", ("model.norm", "norm")),
)


def compare(
    run: Mapping[str, Any], weights: Mapping[str, Tensor], config: Mapping[str, Any], dtype: str
) -> dict[str, Any]:
    """The largest relative difference of every stage, and the first that diverges."""
    own = {name: tensor.float().cpu() for name, tensor in weights.items()}
    embed = _table(run, own)
    drafter = Drafter(own, DraftConfig.from_json(config), embed)
    expected, logits, second = _reference(drafter, run)
    bound = TOLERANCE if dtype == "float32" else _HALF
    rows = []
    for stage, ends in STAGES:
        found = _stage(run["stages"], ends)
        if stage in expected:
            rows.append(_row(stage, found, expected[stage], bound))
    rows.append(_row("logits", run["logits"], logits, bound))
    rows.append(_row("second step", run["second"], second, bound))
    first = next((row["stage"] for row in rows if not row["close"]), "")
    return {"stages": rows, "diverges": first, "tolerance": bound}


def _table(run: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Tensor:
    named = dict(run["model"].named_parameters())
    held = next((p for name, p in named.items() if name.endswith("embed_tokens.weight")), None)
    if held is not None:
        table: Tensor = held.detach().float().cpu()
        return table
    return next(t for name, t in weights.items() if name.endswith("embed_tokens.weight"))


def _reference(
    drafter: Drafter, run: Mapping[str, Any]
) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    hidden, ids = run["hidden"].float().cpu(), run["ids"].cpu()
    width = drafter.w["fc.weight"].shape[1]
    fused = drafter.fuse(hidden) if hidden.shape[-1] == width else hidden
    positions, cache = torch.arange(len(ids)), KVCache()
    norm = drafter._norm  # noqa: SLF001 - its stages are what is compared
    expected = {
        "fused": fused,
        "embedded": norm(drafter.embed[ids].float(), "layer.input_layernorm"),
        "normed": norm(fused, "layer.hidden_norm"),
    }
    state, logits = drafter.forward(fused, ids, positions, cache)
    _, second = drafter.forward(state[-1:], ids[-1:], positions[-1:] + 1, cache)
    return expected, logits, second


def _stage(found: Mapping[str, Tensor], ends: tuple[str, ...]) -> Tensor | None:
    return next((t for path, t in found.items() if path.endswith(ends)), None)


def _row(stage: str, found: Tensor | None, expected: Tensor, bound: float) -> dict[str, Any]:
    if found is None:
        return {"stage": stage, "difference": None, "close": False, "why": "did not run"}
    ours = found.float().cpu()
    if ours.shape != expected.shape:
        why = f"{list(ours.shape)} where the reference has {list(expected.shape)}"
        return {"stage": stage, "difference": None, "close": False, "why": why}
    difference = float((ours - expected).abs().max() / expected.abs().max().clamp(min=1e-30))
    return {"stage": stage, "difference": difference, "close": difference <= bound, "why": ""}
