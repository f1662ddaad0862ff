"""Refusals: the gate's stable codes, in order of precedence."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class RefusalCode(StrEnum):
    """Why a fix may not write. The first that applies answers, the others are listed with it."""

    JOURNAL_BROKEN = "JOURNAL_BROKEN"
    UNSAFE_TARGET = "UNSAFE_TARGET"
    NO_EVIDENCE = "NO_EVIDENCE"
    STALE_HYPOTHESIS = "STALE_HYPOTHESIS"
    STALE_PROBE = "STALE_PROBE"
    STALE_ARTIFACT = "STALE_ARTIFACT"
    PROBE_INVALID = "PROBE_INVALID"
    NOT_EXERCISED = "NOT_EXERCISED"
    INCONCLUSIVE = "INCONCLUSIVE"
    REFUTED = "REFUTED"
    HEURISTIC_ONLY = "HEURISTIC_ONLY"
    TRUTH_NOT_INDEPENDENT = "TRUTH_NOT_INDEPENDENT"
    TRUTH_NOT_APPROVED = "TRUTH_NOT_APPROVED"
    PROBE_CANNOT_FAIL = "PROBE_CANNOT_FAIL"
    RIVAL_OPEN = "RIVAL_OPEN"
    OUT_OF_SCOPE = "OUT_OF_SCOPE"
    FIX_DOES_NOT_FLIP = "FIX_DOES_NOT_FLIP"
    FIX_BREAKS_OTHER = "FIX_BREAKS_OTHER"
    NEEDS_APPROVAL = "NEEDS_APPROVAL"


class Refusal(msgspec.Struct, frozen=True):
    """No, and why: what was asked, what was found, what to do next, what else stands against it."""

    code: RefusalCode
    asked: str
    found: str
    next: str
    also: tuple[RefusalCode, ...] = ()
