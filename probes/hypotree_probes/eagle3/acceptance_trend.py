"""How the accept length moved over a log, in constant memory.

The log is kept as at most 64 means over equally many lines; when they are full, neighbours are
joined. Slow decay points elsewhere than a length that was low from the first line: over rounds to
a wrong rewind, over hours to a cache, after one step to a weight update (failures rule 14).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

_SLOTS: Final = 64
#: Fewer lines than this have no beginning and no end.
LEAST: Final = 16


@dataclass
class Trend:
    """Means of consecutive stretches of equally many lines."""

    lines: int = 0
    _width: int = 1
    _stretches: list[list[float]] = field(default_factory=list)
    """Sum, weight and lines of each."""

    def add(self, value: float, weight: float) -> None:
        """Take one line's value in."""
        self.lines += 1
        if not self._stretches or self._stretches[-1][2] >= self._width:
            if len(self._stretches) == _SLOTS:
                self._halve()
            self._stretches.append([0.0, 0.0, 0.0])
        last = self._stretches[-1]
        last[0] += value * weight
        last[1] += weight
        last[2] += 1

    def _halve(self) -> None:
        pairs = zip(self._stretches[::2], self._stretches[1::2], strict=True)
        self._stretches = [[a + b for a, b in zip(one, two, strict=True)] for one, two in pairs]
        self._width *= 2

    def ends(self) -> tuple[float, float] | None:
        """Mean of the first and of the last quarter; None if there are too few lines."""
        if self.lines < LEAST:
            return None
        quarter = max(len(self._stretches) // 4, 1)
        return _mean(self._stretches[:quarter]), _mean(self._stretches[-quarter:])


def _mean(stretches: list[list[float]]) -> float:
    return sum(s[0] for s in stretches) / sum(s[1] for s in stretches)
