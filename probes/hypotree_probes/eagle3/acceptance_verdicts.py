"""Decide the acceptance symptoms from a tally; the floors are absolute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypotree_probes.eagle3.acceptance_tally import Tally

AT_FLOOR: Final = "acceptance.at-floor"
NOT_EXERCISED: Final = "acceptance.not-exercised"
COLLAPSE: Final = "acceptance.position-collapse"

#: Zero acceptance is 1.00 on every engine; a tenth above it is chance agreement.
FLOOR: Final = 1.10
#: A first position that accepts this much shows that states, map and weights reach the drafter.
ALIVE: Final = 0.3
#: A later position below this part of the first one has collapsed ...
COLLAPSED: Final = 0.2
#: ... if it is also below this part of plain decay (position k keeps first**k): a weak but
#: sound head of 0.5 a position is down to an eighth of its first position by the fourth.
BELOW_DECAY: Final = 0.5


def decide_floor(tally: Tally, where: tuple[Locator, ...], note: str) -> Finding:
    """Whether the accept length is at its floor; `note` explains the accept rate beside it."""
    if tally.is_idle:
        why = f"0 of 0 drafted tokens in {tally.lines} lines: nothing was put to use"
        return Finding(AT_FLOOR, Verdict.NOT_EXERCISED, Authority.NONE, why, where)
    low, high = tally.length_bounds or (0.0, float("inf"))
    span = f"over {tally.lines} lines ({tally.first_line} to {tally.last_line})"
    if low < FLOOR <= high:
        why = f"{tally.accepted} of {tally.drafted} drafted tokens accepted {span}; the accept "
        why += f"length is not printed and may be on either side of {FLOOR:.2f}"
        return Finding(AT_FLOOR, Verdict.INCONCLUSIVE, Authority.NONE, why, where)
    is_floor = high < FLOOR
    least = "" if low == high else "at least "
    side = "below" if is_floor else "not below"
    why = f"accept length {least}{low:.2f} {span}, {side} {FLOOR:.2f}"
    return _decided(AT_FLOOR, f"{why}{note}", where, is_so=is_floor)


def decide_exercised(tally: Tally, where: tuple[Locator, ...]) -> Finding:
    """Whether nothing was drafted."""
    busy = tally.lines - tally.idle_lines
    why = f"tokens were drafted in {busy} of {tally.lines} lines with counters"
    return _decided(NOT_EXERCISED, why, where, is_so=tally.is_idle)


def decide_collapse(tally: Tally, where: tuple[Locator, ...]) -> Finding:
    """Whether the first draft position lives and a later one does not."""
    rates = tally.positions
    if len(rates) < 2:
        engines = ", ".join(sorted(tally.engines))
        return not_run(COLLAPSE, f"the {engines} lines show no rates of several positions")
    shown = "rates by position " + ", ".join(f"{rate:.3f}" for rate in rates[:16])
    if rates[0] < ALIVE:
        why = f"{shown}: the first is below {ALIVE}, so nothing collapses after it; a dead first "
        why += "position points to the states handed over, the head, the map or unloaded weights"
        return _decided(COLLAPSE, why, where, is_so=False)
    fallen = is_collapsed(rates)
    what = "no later one falls below plain decay"
    if fallen:
        # Position 1 is fed by the target, every later one by the drafter's own state.
        what = f"position {fallen} collapses, which points to the recurrent state (norm_output), "
        what += "the positions or the draft's KV cache"
    return _decided(COLLAPSE, f"{shown}: {what}", where, is_so=bool(fallen))


def is_collapsed(rates: Sequence[float]) -> int | None:
    """The first position (from 1) that has collapsed after a first one that lives; None if none."""
    first = rates[0] if rates else 0.0
    if first < ALIVE:
        return None
    for position, rate in enumerate(rates[1:], start=2):
        if rate < COLLAPSED * first and rate < BELOW_DECAY * first**position:
            return position
    return None


def _decided(code: str, why: str, where: tuple[Locator, ...], *, is_so: bool) -> Finding:
    verdict = Verdict.CONFIRMED if is_so else Verdict.REFUTED
    return Finding(code, verdict, Authority.SOURCE_OF_TRUTH, why, where, ("log",))
