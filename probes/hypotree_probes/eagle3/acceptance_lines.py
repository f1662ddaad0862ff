"""Acceptance counters in the lines of three engines.

Formats (facts/eagle3.md section 7): SGLang `Decode batch` lines of 0.4.6 to 0.5.23, vLLM
`SpecDecoding metrics` lines of 0.33.0 and of the 0.8 era, TensorRT-LLM's iteration JSON.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Final

#: Every quantifier is bounded: a hostile line costs what an honest one does.
_SGLANG: Final = re.compile(
    r", accept len: (\d{1,9}(?:\.\d{1,9})?)(?:, accept rate: (\d{1,9}(?:\.\d{1,9})?))?"
)
_RUNNING: Final = re.compile(r"#running-req: (\d{1,9})")
_VLLM: Final = "SpecDecoding metrics: "
_NUMBER: Final = r"(\d{1,9}(?:\.\d{1,9})?|nan)"
_LENGTH: Final = re.compile(rf"Mean acceptance length: {_NUMBER}")
_RATE: Final = re.compile(rf"[Dd]raft acceptance rate: {_NUMBER}%")
_COUNTS: Final = re.compile(r"Accepted: (\d{1,18}) tokens, Drafted: (\d{1,18}) tokens")
_POSITIONS: Final = re.compile(r"Per-position acceptance rate: ([\d., ]{1,2000})")
_TRT: Final = re.compile(r'"specDecodingStats"\s{0,8}:\s{0,8}(\{[^{}]{0,1000}\})')


@dataclass(frozen=True)
class Reading:
    """One line's counters; `rate` in 0 to 1, None where the line does not say."""

    engine: str
    steps: float
    """Request-verify steps that it speaks for, or what stands in for them as a weight."""
    length: float | None = None
    rate: float | None = None
    accepted: int | None = None
    drafted: int | None = None
    positions: tuple[float, ...] = ()


def read_line(line: str) -> Reading | None:
    """The counters in one line, None if it holds none."""
    if "accept len: " in line:
        return _sglang(line)
    if _VLLM in line:
        return _vllm(line)
    if "specDecodingStats" in line:
        return _trt(line)
    return None


def _sglang(line: str) -> Reading | None:
    found = _SGLANG.search(line)
    if found is None:
        return None
    running = _RUNNING.search(line)
    length = float(found[1])
    rate = float(found[2]) if found[2] else None
    if length < 1:  # 0.00: since 0.5.11 printed if no step was verified (metrics_reporter.py)
        return Reading("sglang", 0.0, None, rate, drafted=0)
    # A line covers the same number of forwards as the next: steps go with the batch size.
    return Reading("sglang", max(float(running[1]) if running else 1.0, 1.0), length, rate)


def _vllm(line: str) -> Reading | None:
    length, rate = _first(_LENGTH, line), _first(_RATE, line)
    counts = _COUNTS.search(line)
    if counts is None and length is None:
        return None
    accepted, drafted = (int(counts[1]), int(counts[2])) if counts else (None, None)
    positions = _position_rates(line)
    steps = drafted / len(positions) if drafted and positions else float(bool(drafted))
    return Reading("vllm", steps, length, _percent(rate), accepted, drafted, positions)


def _trt(line: str) -> Reading | None:
    found = _TRT.search(line)
    try:
        stats = json.loads(found[1]) if found else None
    except ValueError:
        return None
    if not isinstance(stats, dict):
        return None
    drafted, accepted, requests = (
        _count(stats.get(key))
        for key in ("numDraftTokens", "numAcceptedTokens", "numRequestsWithDraftTokens")
    )
    if drafted is None or accepted is None or requests is None:
        return None
    length = (accepted + requests) / requests if requests else None
    rate = accepted / drafted if drafted else None
    return Reading("trtllm", float(requests), length, rate, accepted, drafted)


def _position_rates(line: str) -> tuple[float, ...]:
    found = _POSITIONS.search(line)
    words = found[1].replace(",", " ").split() if found else []
    try:
        return tuple(float(word) for word in words)
    except ValueError:
        return ()


def _first(pattern: re.Pattern[str], line: str) -> float | None:
    found = pattern.search(line)
    value = float(found[1]) if found else math.nan
    return None if math.isnan(value) else value


def _percent(value: float | None) -> float | None:
    return None if value is None else value / 100


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
