"""Every case, put to the real command; those whose probe is not there are skipped and say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.case import Case
from cases.table import CASES, judge, why_skipped
from kit import command

#: They run an engine's own source, several times where the gate is asked; the founding incident
#: and one small engine stay in the quick suite.
SLOW = {
    "F10",
    "F12",
    "F12b",
    "F13",
    "F13b",
    "F13c",
    "F13d",
    "F17",
    "F20",
    "S5",
    "S5b",
    "S6",
    "F06",
    "N8",
    "F06b",
    "F06c",
    "F31",
    "F31b",
    "F31c",
    "S1",
    "N1",
    "N4",
    "N6",
    "N6b",
    "N7",
    "N9",
    "N13",
    "N14",
    "N15",
    "N16",
    "N19",
    "Q1b",
    "X07",
    "X08",
    "X09",
    "X10",
    "X18",
    "Z12",
} - {"S5", "F06"}


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=c.id, marks=[pytest.mark.slow] if c.id in SLOW else []) for c in CASES],
)
def test_a_case_is_answered_as_it_must_be(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if reason := why_skipped(case):
        pytest.skip(reason)

    def run(*argv: str) -> tuple[int, str, str]:
        ran = command(capsys, *argv)
        return ran.code, ran.out, ran.err

    result = judge(case, tmp_path, run)
    assert result.missed == []
    assert result.false == []
    assert result.wrong == []


def test_no_two_cases_have_one_name() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def test_at_least_twenty_cases_are_of_our_own() -> None:
    assert sum(case.id[0] in "XWS" for case in CASES) >= 20
