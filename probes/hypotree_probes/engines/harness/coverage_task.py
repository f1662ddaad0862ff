"""Every tensor of the file and every parameter of the class, accounted for by the engine itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from hypotree_probes.engines.harness.draft import Draft, Loading, candidates, fully, parameters
from hypotree_probes.engines.harness.lines import Lines

#: With this in front of every name a loader that finds something finds anything.
NOBODY = "x."


def coverage(draft: Draft, shapes: Mapping[str, tuple[int, ...]], lines: Lines) -> dict[str, Any]:
    """The loading of the file's tensors, and two controls that show that it could have failed."""
    model = draft.build()
    named = candidates(model)
    accepted = draft.load({name: shape for name, (_, shape) in named.items()})
    blind = draft.load({NOBODY + name: shape for name, (_, shape) in named.items()})
    loading = draft.load(shapes, lines)
    sizes = {name: list(p.shape) for name, p in parameters(model).items()}
    return {
        "class": draft.model_class.__name__,
        "parameters": sizes,
        "accepts": {
            name: [parameter, list(shape)]
            for name, (parameter, shape) in named.items()
            if name in accepted.fills.get(parameter, {})
        },
        "controls": {
            "unfilled": [n for n in sizes if not _is_full(accepted, n, sizes[n])],
            "filled_by_nobody": sorted(blind.fills),
        },
        **_loaded(loading, sizes),
        "embedding": _shares_embedding(draft),
        "head_from_target": bool(getattr(model, "load_lm_head_from_target", False)),
    }


def _loaded(loading: Loading, sizes: Mapping[str, list[int]]) -> dict[str, Any]:
    tensors: dict[str, list[str]] = {}
    for parameter, found in loading.fills.items():
        for tensor in found:
            tensors.setdefault(tensor, []).append(parameter)
    twice = [n for n in sizes if fully_of(loading, n)[1]]
    return {
        "fills": tensors,
        "kept": loading.kept,
        "raised": [
            [stop.tensor, stop.message, stop.parameter, stop.wanted]
            for stop in loading.raised.values()
        ],
        "warned": sorted(loading.warned),
        "whole": [n for n in sizes if _is_full(loading, n, sizes[n])],
        "twice": twice,
    }


def fully_of(loading: Loading, name: str) -> tuple[int, int]:
    """How many elements of a parameter were written, and how many of them again."""
    return fully(torch.empty(0), loading.fills.get(name, {}))


def _is_full(loading: Loading, name: str, shape: list[int]) -> bool:
    count = 1
    for size in shape:
        count *= size
    return fully_of(loading, name)[0] == count


def _shares_embedding(draft: Draft) -> bool | None:
    """Whether the engine's own `set_embed` puts the target's table in the draft's place."""
    model = draft.build()
    setter = getattr(model, "set_embed", None)
    if setter is None:
        return None
    with torch.device("meta"), torch.no_grad():
        table = torch.nn.Parameter(torch.empty(3, 5), requires_grad=False)
        setter(table)
    return any(parameter is table for parameter in model.parameters())
