"""From blocks and known states to what each block is, and whether that is what was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hypotree_probes.eagle3.likeness import (
    is_coarser,
    is_normed,
    is_turned,
    likeness,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from hypotree_probes.eagle3.target_states import TargetStates

CONTENT: Final = "aux.content-differs"


@dataclass(frozen=True)
class Block:
    """One block of the capture: what it is, and what is wrong with that ("" if nothing)."""

    what: str
    wrong: str
    error: float
    cosine: float


def against_capture(blocks: Sequence[Tensor], right: Sequence[Tensor]) -> list[Block]:
    """Each block against the block of the same place in a second capture of the same tokens."""
    known = {f"block {i}": state for i, state in enumerate(right, start=1)}
    return [
        _against(place, block, right[place - 1], known)
        for place, block in enumerate(blocks, start=1)
    ]


def _against(place: int, block: Tensor, state: Tensor, known: dict[str, Tensor]) -> Block:
    found = likeness(f"block {place}", block, state)
    if found.is_same and not is_coarser(block, state):
        return Block("the same", "", found.error, found.cosine)
    other = nearest(block, known)
    if other.is_same and other.name != found.name:
        return Block(
            other.name, f"it is the other capture's {other.name}", other.error, other.cosine
        )
    wrong = "it is like no block of the other capture: another layer, or part of one"
    if is_coarser(block, state):
        wrong = "it is rounded to a few bits"
    elif is_normed(block, state):
        wrong = "it went through a norm that the other capture did not"
    elif is_turned(block, state):
        wrong = "its lengths are right and its directions are not: another basis"
    return Block("something else", wrong, found.error, found.cosine)


def against_target(
    blocks: Sequence[Tensor], target: TargetStates, expected: Sequence[int]
) -> list[Block]:
    """Each block against every layer's output of the target itself."""
    rows = min(len(blocks[0]), len(target.layers[0].whole))
    known: dict[str, Tensor] = {}
    for j, layer in enumerate(target.layers):
        known[f"S_{j}"] = layer.whole
        known[f"S_{j} without its residual"] = layer.added
        known[f"S_{j}'s MLP alone"] = layer.last_part
        known[f"S_{j} after the final norm"] = target.normed(layer.whole)
    known = {name: state[:rows] for name, state in known.items()}
    wanted = list(expected) if len(expected) == len(blocks) else [None] * len(blocks)
    return [
        _of_target(block[:rows], known, want) for block, want in zip(blocks, wanted, strict=True)
    ]


def _of_target(block: Tensor, known: dict[str, Tensor], want: int | None) -> Block:
    found = nearest(block, known)
    if not found.is_same:
        return _unknown(block, known, want)
    is_state = " " not in found.name
    wrong = "" if is_state else f"it is {found.name}"
    if is_state and want is not None and found.name != f"S_{want}":
        wrong = f"it is {found.name}, and training read S_{want}"
    return Block(found.name, wrong, found.error, found.cosine)


def _unknown(block: Tensor, known: dict[str, Tensor], want: int | None) -> Block:
    """Like no output: is it one of them in disguise?"""
    states = {name: state for name, state in known.items() if " " not in name}
    if want is not None and f"S_{want}" in states:
        states = {f"S_{want}": states[f"S_{want}"]}
    near = nearest(block, states)
    for name, state in states.items():
        if is_normed(block, state):
            return Block(
                f"{name} after a norm", f"it is {name} after a norm", near.error, near.cosine
            )
        if is_turned(block, state) and want is not None:
            why = f"its lengths are those of {name}, its directions are not: another basis"
            return Block("another basis", why, near.error, near.cosine)
    why = f"it is no layer's output: nearest is {near.name}, off by {100 * near.error:.0f} %"
    return Block("unknown", why, near.error, near.cosine)
