"""What a safetensors header says of one tensor, and what can be wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Problem = Literal[
    "truncated",  # the file ends before what its header promises
    "over-limit",  # larger than the format allows, or than we read
    "bad-header",  # the header is not the JSON object that it must be
    "duplicate-key",  # two entries of one name: readers differ in which they take
    "bad-tensor",  # one entry contradicts itself
    "overlap",  # two tensors share bytes
    "gap",  # bytes between two tensors belong to none
    "trailing-bytes",  # bytes after the last tensor belong to none
]


class TensorLayout(NamedTuple):
    """Where one tensor lies: `begin` and `end` are offsets in the file, `end` is exclusive.

    A named tuple, since a frozen dataclass costs four times as much to make and a file can
    hold 200,000 of them.
    """

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class HeaderFault:
    """One contradiction: its kind, what was found, what to do, and the tensor it is about."""

    problem: Problem
    found: str
    next_step: str
    tensor: str | None = None
