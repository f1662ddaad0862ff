"""Adds up acceptance readings in constant memory.

The accept length of a log is the mean over request-verify steps, `1 + accepted / steps`: the
one definition that all three engines share. Where a line does not say how many steps it covers
(SGLang) its batch size stands in, since lines cover equal numbers of forwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hypotree_probes.eagle3.acceptance_trend import Trend

if TYPE_CHECKING:
    from hypotree_probes.eagle3.acceptance_lines import Reading

#: Engines draft far fewer tokens; a line with more positions is noise.
_MAX_POSITIONS: Final = 64


@dataclass
class _Mean:
    total: float = 0.0
    weight: float = 0.0

    def add(self, value: float | None, weight: float) -> None:
        if value is not None:
            self.total += value * weight
            self.weight += weight

    @property
    def value(self) -> float | None:
        return self.total / self.weight if self.weight else None


@dataclass
class Tally:
    """What a log says about acceptance so far."""

    lines: int = 0
    idle_lines: int = 0
    """Lines with counters in which nothing was drafted."""
    first_line: int = 0
    last_line: int = 0
    engines: set[str] = field(default_factory=set)
    decode_lines: int = 0
    """SGLang decode lines without any counter: speculation is off."""
    drafted: int = 0
    accepted: int = 0
    trend: Trend = field(default_factory=Trend)
    _length: _Mean = field(default_factory=_Mean)
    _rate: _Mean = field(default_factory=_Mean)
    _positions: list[_Mean] = field(default_factory=list)

    def add(self, number: int, reading: Reading) -> None:
        """Take one line's counters in."""
        self.lines += 1
        self.first_line = self.first_line or number
        self.last_line = number
        self.engines.add(reading.engine)
        if reading.drafted == 0:
            self.idle_lines += 1
            return
        self.drafted += reading.drafted or 0
        self.accepted += reading.accepted or 0
        self._length.add(reading.length, reading.steps or 1.0)
        if reading.length is not None:
            self.trend.add(reading.length, reading.steps or 1.0)
        self._rate.add(reading.rate, reading.steps or 1.0)
        for position, rate in enumerate(reading.positions[:_MAX_POSITIONS]):
            if position == len(self._positions):
                self._positions.append(_Mean())
            self._positions[position].add(rate, reading.steps or 1.0)

    @property
    def is_idle(self) -> bool:
        """Whether nothing was drafted in any line with counters."""
        return self.lines > 0 and self.idle_lines == self.lines

    @property
    def length(self) -> float | None:
        """Mean accept length, the target's own token included; None if no line says."""
        return self._length.value

    @property
    def length_bounds(self) -> tuple[float, float] | None:
        """Least and greatest accept length that the log allows; None if it says nothing."""
        if self.length is not None:
            return self.length, self.length
        if not self.drafted:
            return None
        # vLLM of the 0.8 era counts tokens only: with K drafts a step the length is 1 + rate * K.
        rate = self.accepted / self.drafted
        return 1 + rate, 1 + rate * _MAX_POSITIONS

    @property
    def rate(self) -> float | None:
        """Mean accept rate as printed, in 0 to 1."""
        return self._rate.value

    @property
    def positions(self) -> tuple[float, ...]:
        """Mean acceptance of each draft position, unconditional, as vLLM prints it."""
        return tuple(mean.value or 0.0 for mean in self._positions)
