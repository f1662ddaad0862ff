"""canary: silence is no evidence."""

from __future__ import annotations

import pytest
from probe_asking import ask, assert_case, case_params, stale_reads, verdict

from hypotree.model.verdict import Verdict
from hypotree_probes.eagle3.trace_canary import CUT_OFF, DEAD, TraceCanary
from hypotree_probes.eagle3.trace_canary_cases import plant


@pytest.mark.parametrize("case", case_params(TraceCanary))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(TraceCanary, case)


def test_a_dead_trace_that_says_so_is_whole(tmp_path):
    evidence = ask(TraceCanary, plant(0, 0)(tmp_path))
    assert verdict(evidence, DEAD) is Verdict.CONFIRMED
    assert verdict(evidence, CUT_OFF) is Verdict.REFUTED
    assert stale_reads(evidence) == []


def test_a_dead_trace_without_an_end_is_both(tmp_path):
    evidence = ask(TraceCanary, plant(0, None)(tmp_path))
    assert {f.verdict for f in evidence.findings} == {Verdict.CONFIRMED}


def test_a_hook_that_alone_stays_silent_is_counted_not_accused(tmp_path):
    evidence = ask(TraceCanary, plant(1, 1)(tmp_path))
    assert evidence.measures == {"calls": 1, "silent_hooks": 1}
    assert {f.verdict for f in evidence.findings} == {Verdict.REFUTED}
