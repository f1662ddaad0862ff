"""What form a vocabulary map has: decided from what is there, never assumed.

Every engine computes `target id = draft id + d2t[draft id]` (facts: SGLang 0.5.23
models/llama_eagle3.py, vLLM 0.33.0 model_executor/models/llama_eagle3.py, EAGLE cnets.py);
side files hold offsets too, but in some hands absolute ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Form = Literal["offsets", "absolute", "undecided"]


@dataclass(frozen=True)
class MapForm:
    """The form of a stored map, the target id of every draft id if that is known, and why."""

    form: Form
    targets: tuple[int, ...] | None
    why: str


def decide_form(
    stored: Sequence[int] | None,
    marked: Sequence[int] | None,
    vocabulary: int | None,
    declared: str = "",
) -> MapForm:
    """Decide the form of `stored` (d2t as integers [draft vocabulary]).

    `marked` are the target ids that a t2d beside it marks, `vocabulary` the
    target's size, `declared` what a person said ("offsets" or "absolute").
    """
    if stored is None:
        return _from_marked(marked)
    if marked is not None:
        return _against_marked(stored, marked)
    if declared in {"offsets", "absolute"}:
        return _valid(stored, "absolute" if declared == "absolute" else "offsets",
                      "a person said so", vocabulary)  # fmt: skip
    if len(set(stored)) < len(stored):
        return _valid(stored, "offsets", "values repeat, which absolute ids never do", vocabulary)
    if min(stored, default=0) < 0:
        return _valid(stored, "offsets", "values are negative, which ids never are", vocabulary)
    if vocabulary is not None and any(i + v >= vocabulary for i, v in enumerate(stored)):
        return _valid(
            stored,
            "absolute",
            f"read as offsets it leaves the vocabulary of {vocabulary}",
            vocabulary,
        )
    return MapForm("undecided", None, "every value is possible both as an offset and as an id")


def as_targets(stored: Sequence[int], form: Form) -> tuple[int, ...]:
    """The target id of every draft id, for a map of that form."""
    if form == "absolute":
        return tuple(stored)
    return tuple(i + v for i, v in enumerate(stored))


def _from_marked(marked: Sequence[int] | None) -> MapForm:
    if marked is None:
        return MapForm("undecided", None, "there is no map")
    return MapForm("offsets", tuple(marked), "target ids are those that t2d marks, ascending")


def _against_marked(stored: Sequence[int], marked: Sequence[int]) -> MapForm:
    if as_targets(stored, "offsets") == tuple(marked):
        return MapForm("offsets", tuple(marked), "draft id + value gives what its t2d marks")
    if tuple(stored) == tuple(marked):
        return MapForm("absolute", tuple(marked), "the values are what its t2d marks")
    return MapForm("undecided", None, "its d2t and its t2d disagree")


def _valid(stored: Sequence[int], form: Form, why: str, vocabulary: int | None) -> MapForm:
    targets = as_targets(stored, form)
    if len(set(targets)) < len(targets):
        return MapForm("undecided", None, f"as {form} it names a target id twice: no valid map")
    if targets and (min(targets) < 0 or (vocabulary is not None and max(targets) >= vocabulary)):
        return MapForm("undecided", None, f"as {form} it leaves the vocabulary: no valid map")
    return MapForm(form, targets, why)
