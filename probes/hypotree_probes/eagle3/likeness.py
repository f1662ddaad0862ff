"""What is one block of captured states, measured against states that are known?

Bounds: the same layer computed by two kernels in bf16 differs by a few percent of its length, two
layers in a row by ten and more, so a block is the same as a known one within 6 % and if no other
known one is nearer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

SAME: Final = 0.06
_TURNED: Final = 0.2
_KEPT: Final = 0.03
#: A mean direction dominates hidden states; a column is judged by what is left of it.
_FEW_ROWS: Final = 8
_COARSE_BITS, _FINE_BITS = 3, 6


@dataclass(frozen=True)
class Likeness:
    """The known state that a block is nearest to."""

    name: str
    error: float
    """Root mean square of the difference, as a part of the known state's own."""
    cosine: float
    """Mean over the rows."""

    @property
    def is_same(self) -> bool:
        """Whether the block is that state, up to arithmetic."""
        return self.error <= SAME


def nearest(block: Tensor, known: Mapping[str, Tensor]) -> Likeness:
    """Which of the known states [T, H] the block [T, H] is nearest to."""
    return min((likeness(name, block, state) for name, state in known.items()), key=_error)


def _error(found: Likeness) -> float:
    return found.error


def likeness(name: str, block: Tensor, state: Tensor) -> Likeness:
    """One comparison, in float32."""
    a, b = block.float(), state.float()
    scale = b.pow(2).mean().sqrt().clamp(min=1e-12)
    error = float((a - b).pow(2).mean().sqrt() / scale)
    cosine = float(torch.nn.functional.cosine_similarity(a, b, dim=-1).mean())
    return Likeness(name, error if error == error else float("inf"), cosine)


def is_normed(block: Tensor, state: Tensor) -> bool:
    """Whether the block is the state after some RMSNorm: one factor a column, the same in each row."""
    if len(block) < _FEW_ROWS:
        return False
    rows = state.float() / state.float().pow(2).mean(-1, keepdim=True).sqrt().clamp(min=1e-12)
    weight = (rows * block.float()).sum(0) / rows.pow(2).sum(0).clamp(min=1e-12)
    return likeness("", block, rows * weight).is_same and not likeness("", block, state).is_same


def is_turned(block: Tensor, state: Tensor) -> bool:
    """Whether lengths are kept and directions are not: another basis of the same space."""
    lengths = block.float().norm(dim=-1) / state.float().norm(dim=-1).clamp(min=1e-12)
    found = likeness("", block, state)
    return abs(found.cosine) < _TURNED and float((lengths - 1).abs().median()) < _KEPT


def is_coarser(block: Tensor, state: Tensor) -> bool:
    """Whether the block has far fewer significant bits than the state: rounded on its way."""
    return _bits(block) <= _COARSE_BITS and _bits(state) >= _FINE_BITS


def _bits(values: Tensor) -> int:
    """Mantissa bits in use among the 23 of F32, counted from the top."""
    raw = values.float().contiguous().view(torch.int32).flatten() & 0x7FFFFF
    if not raw.numel():
        return 0
    for bits in range(23):
        if not bool((raw & ((1 << (23 - bits)) - 1)).any()):
            return bits
    return 23
