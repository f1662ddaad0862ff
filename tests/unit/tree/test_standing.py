"""Standing is derived from evidence, each time it is asked. DESIGN 2 and rule 8."""

from __future__ import annotations

from typing import Any

import pytest

from hypotree.digest import Digest
from hypotree.model.evidence import Evidence, Finding, InputRecord
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.tree.standing import Standing, standing_after_fix, standing_of

FAULT = "acme.wrong"


def evidence(
    verdict: Verdict = Verdict.CONFIRMED, authority: Authority = Authority.SOURCE_OF_TRUTH
) -> Evidence:
    return sealed(findings=(Finding(FAULT, verdict, authority, "why"),))


def sealed(**changes: Any) -> Evidence:
    fields: dict[str, Any] = {
        "schema": "hypotree.evidence/1", "probe": "p", "version": "1",
        "code_sha256": Digest.of(b"c"), "inputs": (), "findings": (), "seconds": 0.0,
    }  # fmt: skip
    return Evidence(**{**fields, **changes})


@pytest.mark.parametrize(
    ("verdict", "authority", "standing"),
    [
        (Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, Standing.CONFIRMED),
        (Verdict.CONFIRMED, Authority.HEURISTIC, Standing.SUSPECTED),
        (Verdict.CONFIRMED, Authority.NONE, Standing.SUSPECTED),
        (Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, Standing.REFUTED),
        (Verdict.INCONCLUSIVE, Authority.NONE, Standing.INCONCLUSIVE),
        (Verdict.NOT_EXERCISED, Authority.NONE, Standing.NOT_EXERCISED),
        (Verdict.INVALID, Authority.NONE, Standing.INVALID),
        (Verdict.NOT_RUN, Authority.NONE, Standing.NOT_RUN),
    ],
)
def test_fresh_evidence_gives_its_verdicts_standing(
    verdict: Verdict, authority: Authority, standing: Standing
) -> None:
    assert standing_of(FAULT, evidence(verdict, authority), is_fresh=True) is standing
    assert standing_of(FAULT, evidence(verdict, authority), is_fresh=False) is Standing.STALE


def test_without_evidence_a_node_is_untested() -> None:
    assert standing_of(FAULT, None, is_fresh=False) is Standing.UNTESTED


def test_evidence_on_other_faults_only_is_invalid() -> None:
    assert standing_of("another", evidence(), is_fresh=True) is Standing.INVALID


def measured(length: float | None, log: bytes) -> Evidence:
    seen = InputRecord("log", "log", Role.OBSERVATION, "server.log", Digest.of(log), ())
    return sealed(inputs=(seen,), measures={} if length is None else {"accept_length": length})


@pytest.mark.parametrize(
    ("before", "after", "standing"),
    [
        (1.05, 2.4, Standing.FIXED_MOVED),
        (1.05, 1.05, Standing.FIXED_UNMOVED),
        (1.05, 1.1, Standing.FIXED_UNMOVED),
        (1.05, 1.0, Standing.FIXED_UNMOVED),
        (2.4, 1.05, Standing.FIXED_WORSE),
        (1.0, None, Standing.FIXED_NOT_MEASURED),
        (None, 1.0, Standing.FIXED_NOT_MEASURED),
    ],
)
def test_after_a_fix_the_symptom_decides(
    before: float | None, after: float | None, standing: Standing
) -> None:
    assert standing_after_fix(measured(before, b"old"), measured(after, b"new")) is standing


def test_an_old_log_is_no_new_measurement() -> None:
    assert (
        standing_after_fix(measured(1.0, b"log"), measured(2.0, b"log"))
        is Standing.FIXED_NOT_MEASURED
    )


def test_without_a_measurement_on_both_sides_nothing_moved() -> None:
    assert standing_after_fix(None, measured(2.0, b"x")) is Standing.FIXED_NOT_MEASURED
    assert standing_after_fix(measured(2.0, b"x"), None) is Standing.FIXED_NOT_MEASURED
