"""Statistics and a histogram of one tensor, in two passes of chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from hypotree.artifact.files import ByteFile
from hypotree.tui.inspecting.numbers import chunks
from hypotree.tui.inspecting.source import TensorRow

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS: Final = 40


class Statistics(msgspec.Struct, frozen=True):
    """What the finite numbers of a tensor are like; `low` is None if there is no finite one."""

    count: int
    nan: int
    infinite: int
    zero: int
    low: float | None
    high: float | None
    mean: float | None
    std: float | None
    histogram: tuple[int, ...]
    """Counts in equal steps from `low` to `high`."""
    is_whole: bool
    """False if it was stopped before its end."""


class _Sums:
    """Counts and sums so far."""

    def __init__(self) -> None:
        self.count = self.nan = self.infinite = self.zero = 0
        self.total = self.squares = 0.0
        self.low, self.high = float("inf"), float("-inf")

    def add(self, numbers: NDArray[Any]) -> None:
        import numpy as np

        wide = numbers.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        self.count += wide.size
        self.nan += int(np.isnan(wide).sum())
        self.infinite += int(np.isinf(wide).sum())
        self.zero += int((wide == 0).sum())
        if finite.size:
            self.total += float(finite.sum())
            self.squares += float((finite * finite).sum())
            self.low = min(self.low, float(finite.min()))
            self.high = max(self.high, float(finite.max()))


def measure(
    file: ByteFile,
    row: TensorRow,
    advance: Callable[[int, int], object] = lambda _done, _all: None,
    stop: Callable[[], bool] = lambda: False,
) -> Statistics:
    """Read the whole tensor, twice; `advance` is told bytes of both passes."""
    sums, done, both = _Sums(), 0, 2 * row.size
    for numbers in chunks(file, row, stop):
        sums.add(numbers)
        done += numbers.size * row.size // max(_elements(row), 1)
        advance(done, both)
    bins = [0] * BINS
    for numbers in chunks(file, row, stop):
        if sums.low <= sums.high:
            bins = [a + b for a, b in zip(bins, _counted(numbers, sums), strict=True)]
        done += numbers.size * row.size // max(_elements(row), 1)
        advance(done, both)
    return _of(sums, bins, is_whole=not stop())


def _counted(numbers: NDArray[Any], sums: _Sums) -> list[int]:
    import numpy as np

    wide = numbers.astype(np.float64)
    high = sums.high if sums.high > sums.low else sums.low + 1.0
    counts, _ = np.histogram(wide[np.isfinite(wide)], BINS, (sums.low, high))
    found: list[int] = counts.tolist()
    return found


def _of(sums: _Sums, bins: list[int], *, is_whole: bool) -> Statistics:
    finite = sums.count - sums.nan - sums.infinite
    if not finite:
        nothing = (None, None, None, None)
        return Statistics(
            sums.count, sums.nan, sums.infinite, sums.zero, *nothing, tuple(bins), is_whole
        )
    mean = sums.total / finite
    std = max(sums.squares / finite - mean * mean, 0.0) ** 0.5
    return Statistics(
        sums.count, sums.nan, sums.infinite, sums.zero, sums.low, sums.high, mean, std,
        tuple(bins), is_whole,
    )  # fmt: skip


def _elements(row: TensorRow) -> int:
    count = 1
    for size in row.shape:
        count *= size
    return count
