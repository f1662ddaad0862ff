"""Acceptance in Prometheus' text format: what /metrics shows, once or scraped into one file.

Sources (facts/eagle3.md section 7): SGLang's gauges `sglang:spec_accept_length` and
`sglang:spec_accept_rate` (observability/metrics_collector.py:511-540); vLLM's counters
`vllm:spec_decode_num_drafts`, `_num_draft_tokens`, `_num_accepted_tokens` and
`_num_accepted_tokens_per_pos{position=}`, with `_total` behind (v1/spec_decode/metrics.py:228-264).
A counter that falls was started anew: both runs count.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Final

from hypotree_probes.eagle3.acceptance_lines import Reading

_SAMPLE: Final = re.compile(
    r"(sglang:spec_accept_(?:length|rate)|vllm:spec_decode_num_(?:drafts|draft_tokens|"
    r"accepted_tokens_per_pos|accepted_tokens)(?:_total)?)(?:\{([^{}]{0,2000})\})?\s+(\S{1,40})"
)
_POSITION: Final = re.compile(r'position="(\d{1,3})"')
_DRAFTS, _DRAFTED, _ACCEPTED = "num_drafts", "num_draft_tokens", "num_accepted_tokens"
#: Engines, models and ranks make labels; more series than this are noise.
_MAX_SERIES: Final = 4096
_MAX_POSITIONS: Final = 64


@dataclass
class Prometheus:
    """Adds up samples in constant memory."""

    lines: int = 0
    first_line: int = 0
    last_line: int = 0
    _counters: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """For each series: what ended runs had counted, and the latest value."""
    _gauges: dict[str, list[float]] = field(default_factory=dict)
    """For each gauge: the sum and the number of its values that are not 0."""

    def take(self, number: int, line: str) -> bool:
        """Take a line in; False if it is no sample of these metrics."""
        found = _SAMPLE.match(line)
        value = _number(found[3]) if found else None
        if found is None or value is None:
            return False
        self.lines += 1
        self.first_line = self.first_line or number
        self.last_line = number
        name, labels = found[1], found[2] or ""
        if name.startswith("sglang:"):
            sums = self._gauges.setdefault(name, [0.0, 0.0])
            sums[0] += value
            sums[1] += value > 0
        elif (name, labels) in self._counters or len(self._counters) < _MAX_SERIES:
            ended, latest = self._counters.get((name, labels), (0.0, 0.0))
            self._counters[name, labels] = (ended + (latest if value < latest else 0.0), value)
        return True

    def readings(self) -> list[Reading]:
        """What all samples say together, one reading for each engine."""
        found = []
        if self._gauges:
            found.append(self._sglang())
        if self._counters:
            found.append(self._vllm())
        return found

    def _sglang(self) -> Reading:
        length, rate = (self._mean(f"sglang:spec_accept_{what}") for what in ("length", "rate"))
        if length is None:  # 0 until a first step was verified
            return Reading("sglang", 0.0, None, rate, drafted=0)
        return Reading("sglang", self._gauges["sglang:spec_accept_length"][1], length, rate)

    def _mean(self, gauge: str) -> float | None:
        total, count = self._gauges.get(gauge, (0.0, 0.0))
        return total / count if count else None

    def _vllm(self) -> Reading:
        drafts, drafted, accepted = (self._total(what) for what in (_DRAFTS, _DRAFTED, _ACCEPTED))
        positions = self._positions()
        if not drafts and drafted and positions:
            drafts = drafted / len(positions)
        length = 1 + accepted / drafts if drafts else None
        rate = accepted / drafted if drafted else None
        shares = tuple(count / drafts for count in positions) if drafts else ()
        return Reading("vllm", drafts, length, rate, int(accepted), int(drafted), shares)

    def _total(self, what: str) -> float:
        names = {f"vllm:spec_decode_{what}", f"vllm:spec_decode_{what}_total"}
        return sum(
            ended + now for (name, _), (ended, now) in self._counters.items() if name in names
        )

    def _positions(self) -> list[float]:
        counts: dict[int, float] = {}
        for (name, labels), (ended, now) in self._counters.items():
            found = _POSITION.search(labels) if "per_pos" in name else None
            if found and int(found[1]) < _MAX_POSITIONS:
                counts[int(found[1])] = counts.get(int(found[1]), 0.0) + ended + now
        return [counts.get(k, 0.0) for k in range(max(counts) + 1)] if counts else []


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
