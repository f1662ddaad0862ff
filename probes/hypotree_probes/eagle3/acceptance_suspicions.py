"""What an acceptance log makes one wonder about; suspicions, never more.

A very good number is a symptom too (failures rule 13; J4, J5, J12): a looping output, a target that
drafts for itself, a metric that counts the target's own token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run

if TYPE_CHECKING:
    from hypotree.model.evidence import Locator
    from hypotree_probes.eagle3.acceptance_tally import Tally

TOO_GOOD: Final = "acceptance.too-good"
DECLINES: Final = "acceptance.declines"

_PERFECT: Final = 0.98
_ENOUGH_LINES: Final = 10
_ENOUGH_TOKENS: Final = 1000
#: A fall counts where there was something to lose, and half of it is lost.
_ALIVE: Final = 1.3
_LOST: Final = 0.5


def decide_too_good(tally: Tally, where: tuple[Locator, ...]) -> Finding:
    """Whether next to everything is accepted."""
    busy = tally.lines - tally.idle_lines
    rate = tally.accepted / tally.drafted if tally.drafted else tally.rate
    if rate is None:
        return not_run(TOO_GOOD, "no line tells an accept rate")
    if busy < _ENOUGH_LINES and tally.drafted < _ENOUGH_TOKENS:
        return not_run(TOO_GOOD, f"{busy} lines and {tally.drafted} drafted tokens are too few")
    is_so = rate >= _PERFECT
    why = f"{100 * rate:.1f} % of the drafts are accepted"
    if is_so:
        why += ": does the output loop, does the target draft for itself, what does the rate count?"
    return _guess(TOO_GOOD, why, where, is_so=is_so)


def decide_declines(tally: Tally, where: tuple[Locator, ...]) -> Finding:
    """Whether the accept length fell from the log's beginning to its end."""
    ends = tally.trend.ends()
    if ends is None:
        return not_run(DECLINES, f"{tally.trend.lines} lines with an accept length are too few")
    first, last = ends
    is_so = first >= _ALIVE and last - 1 < _LOST * (first - 1)
    why = f"accept length {first:.2f} in the first quarter of the lines, {last:.2f} in the last"
    if is_so:
        why += (
            ": over rounds look at the rewind, over hours at the cache, at once at weight updates"
        )
    return _guess(DECLINES, why, where, is_so=is_so)


def _guess(code: str, why: str, where: tuple[Locator, ...], *, is_so: bool) -> Finding:
    verdict = Verdict.CONFIRMED if is_so else Verdict.REFUTED
    return Finding(code, verdict, Authority.HEURISTIC, why, where, ("log",))
