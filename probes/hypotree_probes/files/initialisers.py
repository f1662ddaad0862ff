"""Does a weight look as if nobody had trained it? A guess from its own values, never more.

Sources: Hugging Face's `initializer_range` (normal, 0.02; SpecForge, speculators and ModelOpt build
on it), torch's `nn.Linear` and `kaiming_uniform_(a=sqrt(5))` (uniform, +-1/sqrt(inputs)). A trained
matrix moves off the initialiser's mean, spread and tails; the bounds below are those of chance.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hypotree_probes.files.tensor_scan import ScannedTensor

#: Below this many elements chance makes anything look like anything.
LEAST: Final = 65_536
_NORMAL: Final = 0.02
_SIGMAS: Final = 4.0
#: Rounding to BF16 moves a standard deviation by less.
_ROUNDING: Final = 0.002
#: A uniform draw of this many comes this near to its bound.
_EDGE: Final = 0.01


def untrained_look(tensor: ScannedTensor) -> str:
    """Which fresh initialisation the values look like, "" for none."""
    values, shape = tensor.values, tensor.layout.shape
    if values is None or len(shape) != 2 or values.count < LEAST or values.finite < values.count:
        return ""
    count, spread = values.count, values.deviation
    if not spread or abs(values.mean) > _SIGMAS * spread / sqrt(count):
        return ""
    if _near(spread, _NORMAL, count) and values.largest < 1.3 * spread * sqrt(2 * log(count)):
        return f"normal, mean {values.mean:.1e}, standard deviation {spread:.5f}"
    bound = 1 / sqrt(shape[1])
    if _near(spread, bound / sqrt(3), count) and abs(values.largest / bound - 1) < _EDGE:
        return f"uniform within {bound:.5f}, the bound for {shape[1]} inputs"
    return ""


def _near(found: float, expected: float, count: int) -> bool:
    return abs(found / expected - 1) < _SIGMAS / sqrt(2 * count) + _ROUNDING
