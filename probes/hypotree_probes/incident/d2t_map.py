"""The draft-to-target vocabulary map of the founding incident, made anew: pure Python, the same on every machine.

The map has the public traits of the real file: 32,000 stored offsets (target id = draft id + offset) into a
vocabulary of 163,840 ids, zero for the first 124 ids, 20,954 distinct values, the largest 131,608, and a known
stretch at 1000. Everything else is drawn from a fixed linear congruential generator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

DRAFT_VOCAB = 32_000
TARGET_VOCAB = 163_840
IDENTITY = 124  # leading ids whose offset is 0 (single-byte tokens keep their ids)
STRETCH_AT = 1_000
STRETCH = (787, 787, 787, 788, 792, 792, 792, 792, 793, 794)
LARGEST = 131_608
DISTINCT = 20_954
_HEAD_STEPS = (
    430  # how many of the ids 124..999 raise the offset; the rest of the distinct values come after
)


def _lcg(seed: int) -> Iterator[float]:
    """Uniform floats in [0, 1): Knuth's MMIX generator, of which the upper 53 bits are used."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 11) / 2**53


def _choose(count: int, total: int, draws: Iterator[float]) -> list[bool]:
    """Mark exactly `count` of `total` places (selection sampling)."""
    marks: list[bool] = []
    left = count
    for place in range(total):
        marks.append(next(draws) * (total - place) < left)
        left -= marks[-1]
    return marks


def _climb(start: int, end: int, steps: int, length: int, draws: Iterator[float]) -> list[int]:
    """`length` non-decreasing values after `start`; exactly `steps` of them rise, the last value is `end`.

    Rare tokens lie further apart: a rise late in the list tends to be larger.
    """
    marks = _choose(steps, length, draws)
    weights = [
        (1 / math.sqrt(next(draws)) - 0.2) * (1 + 3 * place / length)
        for place in range(length)
        if marks[place]
    ]
    spare = end - start - steps  # every rise is at least one
    scale = spare / math.fsum(
        weights
    )  # fsum and sqrt are exact by definition: sum() changed in Python 3.12
    values: list[int] = []
    carried = 0.0
    value, seen, given = start, 0, 0
    for mark in marks:
        if mark:
            carried += weights[seen] * scale
            seen += 1
            extra = (spare if seen == steps else min(int(carried), spare)) - given
            given += extra
            value += 1 + extra
        values.append(value)
    return values


def incident_d2t() -> list[int]:
    """The 32,000 stored offsets, non-decreasing; target ids are ascending, unique and below 163,840."""
    draws = _lcg(61)
    head = _climb(0, STRETCH[0], _HEAD_STEPS, STRETCH_AT - IDENTITY, draws)
    used = (
        1 + _HEAD_STEPS + len(set(STRETCH)) - 1
    )  # zero, the head's values, those new in the stretch
    tail_at = STRETCH_AT + len(STRETCH)
    tail = _climb(STRETCH[-1], LARGEST, DISTINCT - used, DRAFT_VOCAB - tail_at, draws)
    return [0] * IDENTITY + head + list(STRETCH) + tail
