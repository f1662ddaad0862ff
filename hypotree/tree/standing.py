"""What a node shows: derived from evidence each time it is asked, never stored."""

from __future__ import annotations

from enum import StrEnum

from hypotree.model.evidence import Evidence
from hypotree.model.verdict import Authority, Verdict

#: A change of the accept length smaller than this is noise of sampling, not an effect.
NOTICEABLE = 0.1


class Standing(StrEnum):
    """Where a hypothesis stands."""

    UNTESTED = "untested"
    STALE = "stale"
    CONFIRMED = "confirmed"
    SUSPECTED = "suspected"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    NOT_EXERCISED = "not exercised"
    INVALID = "invalid"
    NOT_RUN = "not run"
    FIXED_NOT_MEASURED = "fixed, symptom not re-measured"
    FIXED_MOVED = "fixed, symptom moved"
    FIXED_UNMOVED = "fixed, symptom unmoved"
    FIXED_WORSE = "fixed, symptom worse"


_PLAIN = {
    Verdict.REFUTED: Standing.REFUTED,
    Verdict.INCONCLUSIVE: Standing.INCONCLUSIVE,
    Verdict.NOT_EXERCISED: Standing.NOT_EXERCISED,
    Verdict.INVALID: Standing.INVALID,
    Verdict.NOT_RUN: Standing.NOT_RUN,
}


def standing_of(fault: str, evidence: Evidence | None, *, is_fresh: bool) -> Standing:
    """The standing of a hypothesis whose fix is not in force."""
    if evidence is None:
        return Standing.UNTESTED
    if not is_fresh:
        return Standing.STALE
    finding = evidence.finding(fault)
    if finding is None:
        return Standing.INVALID
    if finding.verdict is Verdict.CONFIRMED:
        sure = finding.authority is Authority.SOURCE_OF_TRUTH
        return Standing.CONFIRMED if sure else Standing.SUSPECTED
    return _PLAIN[finding.verdict]


def standing_after_fix(before: Evidence | None, after: Evidence | None) -> Standing:
    """The standing of a fixed hypothesis, by the symptom as measured before and after the swap.

    Two measurements whose observations have the same digests are one measurement.
    """
    if before is None or after is None or same_observations(before, after):
        return Standing.FIXED_NOT_MEASURED
    name = "accept_length"
    if name not in before.measures or name not in after.measures:
        return Standing.FIXED_NOT_MEASURED
    change = after.measures[name] - before.measures[name]
    if change >= NOTICEABLE:
        return Standing.FIXED_MOVED
    return Standing.FIXED_WORSE if change <= -NOTICEABLE else Standing.FIXED_UNMOVED


def same_observations(one: Evidence, other: Evidence) -> bool:
    """Whether two runs saw exactly the same bytes."""
    return [(i.name, i.sha256) for i in one.inputs] == [(i.name, i.sha256) for i in other.inputs]
