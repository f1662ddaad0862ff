"""Every case, put to the real command; those whose probe is not there are skipped and say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.case import Case
from cases.table import CASES, judge, why_skipped
from kit import command


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
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
