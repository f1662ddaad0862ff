"""The closed vocabularies of a finding."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What a probe decided about one fault code."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    NOT_EXERCISED = "not-exercised"
    """The thing was never put to use: 0 accepted of 0 drafted says nothing."""
    INVALID = "invalid"
    """The probe itself failed or was blind."""
    NOT_RUN = "not-run"
    """An input that this fault code needs was not given; never counted as open."""

    @property
    def is_open(self) -> bool:
        """Whether the question was put and not answered."""
        return self in {Verdict.INCONCLUSIVE, Verdict.NOT_EXERCISED, Verdict.INVALID}


class Authority(StrEnum):
    """What a verdict rests on; only the first opens the gate."""

    SOURCE_OF_TRUTH = "source-of-truth"
    HEURISTIC = "heuristic"
    NONE = "none"


class Role(StrEnum):
    """What an artifact is for in one binding."""

    SUBJECT = "subject"
    TRUTH = "truth"
    OBSERVATION = "observation"
