"""Statistics of one tensor while its bytes pass by: exact counts, sums in double precision.

The counts rest on integer comparisons of raw bits (one maximum over the magnitudes answers NaN,
infinity and the largest value at once), the sums on blocks that fit the caches: see
facts/performance.md section 6. Nothing is allocated that grows with the tensor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hypotree_probes.files.number_formats import WIDE, narrow_values, wide_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hypotree_probes.files.number_formats import WideFormat

#: Products of 8,192 elements: below the size at which BLAS starts threads of its own.
_BLOCK: Final = 8192
#: Larger integers than these are no codes of a quantised weight.
_MAX_CODE: Final = 256


@dataclass
class Statistics:
    """What is known of one tensor's values so far; sums are over the finite ones."""

    dtype: str
    count: int = 0
    nan: int = 0
    infinite: int = 0
    positive_infinite: int = 0
    zeros: int = 0
    total: float = 0.0
    squares: float = 0.0
    largest: float = 0.0
    """Of the finite magnitudes."""
    is_whole: bool = True
    """Whether every value so far is a small whole number."""
    is_one: bool = True
    """Whether every value so far is 1."""

    @property
    def finite(self) -> int:
        """Values that are neither NaN nor infinite."""
        return self.count - self.nan - self.infinite

    @property
    def mean(self) -> float:
        """Of the finite values; 0 if there is none."""
        return self.total / self.finite if self.finite else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the finite values."""
        variance = self.squares / self.finite - self.mean**2 if self.finite else 0.0
        return math.sqrt(max(variance, 0.0))

    @property
    def is_zero(self) -> bool:
        """Whether there are values, all of them 0."""
        return 0 < self.count == self.zeros

    def add(self, data: bytes) -> None:
        """Take the next bytes in; a multiple of the element's size."""
        wide = WIDE.get(self.dtype)
        with np.errstate(all="ignore"):
            if wide is None:
                self._add_codes(np.bincount(np.frombuffer(data, np.uint8), minlength=256))
            else:
                self._add_wide(np.frombuffer(data, wide.bits), wide)

    def _add_codes(self, counts: NDArray[Any]) -> None:
        """An 8-bit format: how often each code occurs says everything."""
        values = narrow_values(self.dtype)
        there = counts > 0
        finite = there & np.isfinite(values)
        self.count += int(counts.sum())
        self.nan += int(counts[np.isnan(values)].sum())
        self.infinite += int(counts[np.isinf(values)].sum())
        self.positive_infinite += int(counts[np.isposinf(values)].sum())
        self.zeros += int(counts[values == 0].sum())
        known, weights = values[finite], counts[finite].astype(np.float64)
        if known.size:
            self.largest = max(self.largest, float(np.abs(known).max()))
            self.total += float(known @ weights)
            self.squares += float((known * known) @ weights)
        self._note_kind(values[there])

    def _add_wide(self, raw: NDArray[Any], form: WideFormat) -> None:
        magnitude = np.bitwise_and(raw, raw.dtype.type(form.magnitude))
        self.count += raw.size
        self.zeros += raw.size - int(np.count_nonzero(magnitude))
        values = wide_values(raw, form)
        if raw.size and int(magnitude.max()) >= form.infinity:
            infinite = values[magnitude == form.infinity]
            self.nan += int(np.count_nonzero(magnitude > form.infinity))
            self.infinite += infinite.size
            self.positive_infinite += int(np.count_nonzero(infinite > 0))
            self.is_whole = self.is_one = False
            finite = magnitude < form.infinity
            values, magnitude = values[finite], magnitude[finite]
        if values.size:
            # Among the finite, the greater bits are the greater value.
            self.largest = max(
                self.largest, float(wide_values(magnitude.max(keepdims=True), form)[0])
            )
            self._sum(values if values.dtype != np.float16 else values.astype(np.float32))
            self._note_kind(values)

    def _sum(self, values: NDArray[Any]) -> None:
        whole = values.size // _BLOCK * _BLOCK
        for part in (values[:whole].reshape(-1, _BLOCK), values[whole:].reshape(1, -1)):
            if part.size:
                total, squares = _block_sums(part)
                self.total += total
                self.squares += squares

    def _note_kind(self, values: NDArray[Any]) -> None:
        """Ordinary weights leave after one element; only codes and ones cost a pass."""
        if not values.size:
            return
        if self.is_whole:
            self.is_whole = _is_small(values[0]) and bool(
                np.all(np.abs(values) <= _MAX_CODE) and np.all(values == np.rint(values))
            )
        if self.is_one:
            self.is_one = values[0] == 1 and bool(np.all(values == 1))


def _block_sums(rows: NDArray[Any]) -> tuple[float, float]:
    """Sum and sum of squares of [blocks, width], each block by one product."""
    ones = np.ones((rows.shape[1], 1), rows.dtype)
    sums = rows @ ones
    squares = rows[:, None, :] @ rows[:, :, None]
    if not (np.isfinite(sums).all() and np.isfinite(squares).all()):  # F32 values near its limit
        exact = rows.astype(np.float64)
        return float(exact.sum()), float((exact * exact).sum())
    return float(sums.sum(dtype=np.float64)), float(squares.sum(dtype=np.float64))


def _is_small(value: float) -> bool:
    return abs(value) <= _MAX_CODE and value == round(float(value))
