"""Counterfactuals of a replay: one thing changed, everything else as it is served.

Which change restores acceptance, and by how much, is the strongest discriminator there is. None of
it is evidence on a cause by itself: a cause has its own probe, which looks at the files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING

import torch

from hypotree_probes.eagle3.reference import draft_chains
from hypotree_probes.eagle3.torch_tensors import to_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from hypotree_probes.eagle3.reference import Acceptance
    from hypotree_probes.eagle3.served import Served, ServedPath


@dataclass(frozen=True)
class WhatIf:
    """One change, and what it makes of acceptance; `why_not` if it could not be replayed."""

    change: str
    acceptance: Acceptance | None
    why_not: str = ""


def what_ifs(served: Served) -> Iterator[WhatIf]:
    """Every change that the given artifacts allow."""
    for change, path in _paths(served):
        try:
            yield WhatIf(change, path.acceptance())
        except (RuntimeError, KeyError) as error:  # a width or a weight that does not fit
            yield WhatIf(change, None, str(error).splitlines()[0][:120])


def _paths(served: Served) -> Iterator[tuple[str, ServedPath]]:
    path = served.path
    if any(path.weights[name] is not tensor for name, tensor in served.loaded.items()):
        yield "every tensor loaded", replace(path, weights=served.loaded)
    yield from _handed(served)
    yield from _maps(path)
    config = path.config
    for what, changed in (
        ("norm_output", replace(config, norm_output=not config.norm_output)),
        (
            "norm_before_residual",
            replace(config, norm_before_residual=not config.norm_before_residual),
        ),
    ):
        state = "off" if getattr(config, what) else "on"
        yield f"{what} {state}", replace(path, config=changed)


def _handed(served: Served) -> Iterator[tuple[str, ServedPath]]:
    """Other states: fused or raw, a layer off, the layers in another order."""
    path, record = served.path, served.record
    if path.fuse and record.final is not None:
        raw = to_torch(record.final)
        if raw.shape[-1] == path.config.hidden_size:
            yield "fc skipped, final state raw", replace(path, states=raw, fuse=False)
    if not path.fuse and record.aux is not None:
        fused = replace(path, states=to_torch(record.aux), fuse=True)
        yield "aux states fused by fc", fused
        if any(path.weights[name] is not tensor for name, tensor in served.loaded.items()):
            yield "fused, and every tensor loaded", replace(fused, weights=served.loaded)
    for by, value in record.shifted.items():
        states = replace(path, states=to_torch(value), fuse=True)
        yield f"aux states of {'later' if by > 0 else 'earlier'} layers ({by:+d})", states
    if path.fuse and path.states.shape[-1] == 3 * path.embed.shape[-1]:
        low, middle, high = path.states.chunk(3, dim=-1)
        for order in list(permutations(range(3)))[1:]:
            joined = torch.cat([(low, middle, high)[i] for i in order], dim=-1)
            yield f"aux states in the order {order}", replace(path, states=joined)


def _maps(path: ServedPath) -> Iterator[tuple[str, ServedPath]]:
    """The stored map read otherwise; those that change nothing are left out."""
    ids = torch.arange(len(path.d2t))
    targets = ids + path.d2t
    other = {
        "d2t as absolute ids": path.d2t - ids,
        "d2t with the draft id added once more": path.d2t + ids,
        "d2t sorted by target id": targets.sort().values - ids,
        "no d2t": torch.zeros_like(path.d2t),
    }
    for change, offsets in other.items():
        if not torch.equal(offsets, path.d2t):
            yield change, replace(path, d2t=offsets)


@torch.no_grad()
def teacher_forced(path: ServedPath) -> tuple[float, ...]:
    """The share of right tokens at each draft position when all before it are the record's own.

    A chain that fails early hides what its later steps could do; this does not.
    """
    hidden = path.drafter().fuse(path.states[:-1]) if path.fuse else path.states[:-1].float()
    rows = len(hidden)
    truth = torch.stack([_after(path.tokens, 2 + k, rows) for k in range(path.steps)], dim=1)
    last = max(len(path.tokens) - 1 - path.steps, 0)
    right: list[float] = []

    def choose(step: int, logits: Tensor) -> Tensor:
        draft_ids = logits.argmax(-1)
        hits = (draft_ids + path.d2t[draft_ids] == truth[:, step - 1])[path.start : last]
        right.append(float(hits.float().mean()) if len(hits) else 0.0)
        return truth[:, step - 1]

    draft_chains(path.drafter(), hidden, path.tokens[1:], path.steps, choose)
    return tuple(right)


def _after(tokens: Tensor, shift: int, rows: int) -> Tensor:
    """tokens[p + shift] for each row p; the last token where the record ends."""
    return tokens[(torch.arange(rows) + shift).clamp(max=len(tokens) - 1)]
