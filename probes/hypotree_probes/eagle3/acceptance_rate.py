"""What a printed accept rate is worth: its floor differs from release to release.

Source (facts/eagle3.md section 7; with ct verify steps, A accepted drafts, D draft tokens):
SGLang 0.5.4 prints (A + ct) / (ct * (steps + 1)), 0.5.6 to 0.5.10 print (A + ct) / (ct * D),
which is the accept length divided by D and never below 1/D; 0.5.11 and later print
A / (ct * (D - 1)), which can be 0. vLLM and TensorRT-LLM print accepted / drafted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hypotree.artifact.engine import Engine
    from hypotree_probes.eagle3.acceptance_tally import Tally

_COUNTS_OWN_TOKEN: Final = ("0.5.4", "0.5.11")
"""SGLang releases, the second excluded, whose rate counts the target's own token."""
_ROUNDING: Final = 0.005
"""Rates are printed with two digits."""


def rate_note(tally: Tally, engine: Engine | None) -> str:
    """A clause on the accept rate to follow the accept length; "" if there is none to explain."""
    rate, length = tally.rate, tally.length
    if rate is None or length is None or "sglang" not in tally.engines:
        return ""
    floor = _floor_drafts(length, rate)
    counts = _counts_own_token(engine)
    if counts is False:
        return f"; accept rate {rate:.2f}, whose floor is 0.00"
    if counts and floor:
        return f"; accept rate {rate:.2f} is the length over {floor}, floor {1 / floor:.2f}"
    if floor:
        return (
            f"; accept rate {rate:.2f} would be the length over {floor} draft tokens on SGLang "
            f"0.5.4 to 0.5.10, where {1 / floor:.2f} is the floor"
        )
    return f"; accept rate {rate:.2f}"


def _counts_own_token(engine: Engine | None) -> bool | None:
    """Whether the release counts the target's own token; None if it is not known."""
    from packaging.version import InvalidVersion, Version

    if engine is None or engine.name != "sglang":
        return None
    try:
        version = Version(engine.version())
    except InvalidVersion:
        return None
    first, end = (Version(text) for text in _COUNTS_OWN_TOKEN)
    return first <= version < end


def _floor_drafts(length: float, rate: float) -> int | None:
    """D, if the rate is the accept length over a whole number of draft tokens."""
    drafts = round(length / rate) if rate > _ROUNDING else 0
    return drafts if drafts >= 2 and abs(length / drafts - rate) <= _ROUNDING else None
