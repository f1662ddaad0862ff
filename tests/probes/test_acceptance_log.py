"""acceptance-log: the symptom as a number."""

from __future__ import annotations

import subprocess
import sys

import pytest
from probe_asking import (
    GUESS,
    TRUTH,
    ask,
    assert_case,
    case_params,
    stale_reads,
    verdict,
    why,
    write_lines,
)

from hypotree.model.verdict import Verdict
from hypotree_probes.eagle3.acceptance_log import AcceptanceLog
from hypotree_probes.eagle3.acceptance_trend import Trend
from hypotree_probes.eagle3.acceptance_written import (
    old_vllm_line,
    sglang_line,
    sglang_metrics,
    trt_line,
    vllm_line,
    vllm_metrics,
)

FLOOR, IDLE = "acceptance.at-floor", "acceptance.not-exercised"
COLLAPSE = "acceptance.position-collapse"

#: As facts/eagle3.md section 7 composes it from the format strings of 0.5.11 and later.
TWO_POOLS = (
    "[2026-08-20 10:11:12] Decode batch, #running-req: 1, #full token: 734, "
    "full token usage: 0.01, #swa token: 700, swa token usage: 0.02, accept len: 1.00, "
    "accept rate: 0.00, cuda graph: True, gen throughput (token/s): 60.02, #queue-req: 0"
)


@pytest.mark.parametrize("case", case_params(AcceptanceLog))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(AcceptanceLog, case)


def read(tmp_path, *lines, engine=None):
    given = {"log": write_lines(tmp_path / "server.log", "loading", *lines, "bye")}
    return ask(AcceptanceLog, given | ({"engine": engine} if engine else {}))


def test_the_founding_incident_is_at_the_floor_in_spite_of_its_accept_rate(tmp_path):
    evidence = read(tmp_path, sglang_line(1.05, 0.21), engine="sglang@0.5.9")
    found = evidence.finding(FLOOR)
    assert (found.verdict, found.authority, found.truth) == (Verdict.CONFIRMED, TRUTH, ("log",))
    assert "the length over 5, floor 0.20" in found.why
    assert evidence.measures == {"lines": 1, "accept_length": 1.05, "accept_rate": 0.21}
    assert found.locators[0].line == 2


def test_a_rate_of_0_40_at_length_1_60_is_alive_on_0_5_8(tmp_path):
    evidence = read(tmp_path, sglang_line(1.60, 0.40), engine="sglang@0.5.8")
    assert verdict(evidence, FLOOR) is Verdict.REFUTED
    assert "floor 0.25" in why(evidence, FLOOR)


def test_length_1_00_is_the_floor_whatever_the_rate(tmp_path):
    evidence = read(tmp_path, sglang_line(1.00, 0.25), engine="sglang@0.5.23")
    assert verdict(evidence, FLOOR) is Verdict.CONFIRMED


def test_an_unknown_release_gets_the_rate_explained_with_a_would(tmp_path):
    assert "would be the length over 4" in why(read(tmp_path, sglang_line(1.0, 0.25)), FLOOR)


def test_newer_sglang_lines_with_two_token_pools_are_read(tmp_path):
    evidence = read(tmp_path, TWO_POOLS, engine="sglang@0.5.14")
    assert verdict(evidence, FLOOR) is Verdict.CONFIRMED
    assert verdict(evidence, IDLE) is Verdict.REFUTED
    assert verdict(evidence, COLLAPSE) is Verdict.NOT_RUN


def test_a_length_is_weighted_with_the_batch_that_it_speaks_for(tmp_path):
    lines = sglang_line(1.0, 0.25, running=1), sglang_line(2.0, 0.5, running=9)
    assert read(tmp_path, *lines).measures["accept_length"] == 1.9


def test_a_line_without_a_draft_does_not_pull_the_length_down(tmp_path):
    lines = sglang_line(0.0, 0.0), sglang_line(2.0, 0.33)
    assert read(tmp_path, *lines).measures["accept_length"] == 2.0


@pytest.mark.parametrize(
    "line", [vllm_line(0, 0, ()), old_vllm_line(0, 0), trt_line(0, 0, 0), sglang_line(0.0, 0.0)]
)
def test_nothing_drafted_is_not_zero_acceptance(tmp_path, line):
    evidence = read(tmp_path, line)
    assert verdict(evidence, FLOOR) is Verdict.NOT_EXERCISED
    assert verdict(evidence, IDLE) is Verdict.CONFIRMED
    assert "accept_length" not in evidence.measures


def test_old_vllm_lines_that_leave_the_length_open_decide_nothing(tmp_path):
    assert verdict(read(tmp_path, old_vllm_line(50, 1000)), FLOOR) is Verdict.INCONCLUSIVE


def test_a_log_without_counters_decides_nothing(tmp_path):
    evidence = read(tmp_path, "nothing of interest")
    assert verdict(evidence, FLOOR) is Verdict.INCONCLUSIVE


def test_decode_lines_without_a_length_say_that_speculation_is_off(tmp_path):
    evidence = read(tmp_path, "Decode batch, #running-req: 1, gen throughput (token/s): 60.02")
    assert "speculation is off" in why(evidence, FLOOR)


def test_a_first_position_that_lives_before_dead_ones_is_a_collapse(tmp_path):
    evidence = read(tmp_path, vllm_line(400, 1500, (0.75, 0.05, 0.0)))
    assert verdict(evidence, COLLAPSE) is Verdict.CONFIRMED
    assert "position 2" in why(evidence, COLLAPSE)


def test_plain_decay_of_a_weak_head_is_no_collapse(tmp_path):
    evidence = read(tmp_path, vllm_line(484, 2500, (0.5, 0.25, 0.125, 0.0625, 0.031)))
    assert verdict(evidence, COLLAPSE) is Verdict.REFUTED


def test_a_dead_first_position_is_no_collapse(tmp_path):
    evidence = read(tmp_path, vllm_line(36, 3000, (0.036, 0.0006, 0.0)))
    assert verdict(evidence, COLLAPSE) is Verdict.REFUTED
    assert verdict(evidence, FLOOR) is Verdict.CONFIRMED


def test_a_counter_that_falls_was_started_anew(tmp_path):
    lines = [*vllm_metrics(100, 300, (50, 20, 10)), *vllm_metrics(40, 120, (20, 8, 4))]
    evidence = read(tmp_path, *lines)
    assert evidence.measures["accept_length"] == round(1 + 112 / 140, 4)
    assert evidence.measures["lines"] == 1


def test_several_scrapes_of_one_run_count_once(tmp_path):
    lines = [*vllm_metrics(100, 300, (50, 20, 10)), *vllm_metrics(200, 600, (100, 40, 20))]
    assert read(tmp_path, *lines).measures["accept_rate"] == round(160 / 600, 4)


def test_gauges_that_were_never_set_are_nothing_drafted(tmp_path):
    evidence = read(tmp_path, *sglang_metrics(0.0, 0.0))
    assert verdict(evidence, IDLE) is Verdict.CONFIRMED


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "x", "1" * 300])
def test_malformed_samples_are_passed_over(tmp_path, value):
    evidence = read(tmp_path, f"vllm:spec_decode_num_drafts_total {value}")
    assert verdict(evidence, FLOOR) in {Verdict.INCONCLUSIVE, Verdict.NOT_EXERCISED}


def test_perfect_acceptance_is_a_suspicion(tmp_path):
    evidence = read(tmp_path, vllm_line(1500, 1500, (1.0, 1.0, 1.0)))
    found = evidence.finding("acceptance.too-good")
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)
    assert verdict(evidence, FLOOR) is Verdict.REFUTED


def test_a_few_perfect_tokens_are_none(tmp_path):
    evidence = read(tmp_path, vllm_line(30, 30, (1.0, 1.0, 1.0)))
    assert verdict(evidence, "acceptance.too-good") is Verdict.NOT_RUN


def test_a_length_that_falls_by_half_is_a_suspicion(tmp_path):
    lines = [sglang_line(3.0 - 0.015 * i, 0.5) for i in range(120)]
    found = read(tmp_path, *lines).finding("acceptance.declines")
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)


def test_a_length_that_wavers_is_none(tmp_path):
    lines = [sglang_line(2.0 + 0.5 * (i % 3), 0.5) for i in range(120)]
    assert verdict(read(tmp_path, *lines), "acceptance.declines") is Verdict.REFUTED


def test_a_trend_of_any_length_keeps_64_stretches():
    trend = Trend()
    for i in range(100_000):
        trend.add(3.0 if i < 50_000 else 1.0, 1.0)
    assert len(trend._stretches) <= 64
    assert trend.ends() == (3.0, 1.0)


def test_symptoms_have_no_fix():
    assert all(fault.is_symptom and not fault.fix for fault in AcceptanceLog.decides)


def test_one_more_line_makes_the_evidence_stale(tmp_path):
    evidence = read(tmp_path, sglang_line(1.0, 0.25))
    assert stale_reads(evidence) == []
    with (tmp_path / "server.log").open("a") as log:
        log.write("more\n")
    assert stale_reads(evidence) == ["log: file server.log"]


@pytest.mark.parametrize(
    "line",
    [
        '{"specDecodingStats": {"numDraftTokens": ' + "[" * 900 + "}}",
        '{"specDecodingStats": {"numDraftTokens": "x", "numAcceptedTokens": null}}',
        "SpecDecoding metrics: Per-position acceptance rate: 0.1.2.3, " + "," * 3000,
        "x, accept len: " + "1" * 60_000,
        "SpecDecoding metrics: Accepted: 1e9 tokens, Drafted: -3 tokens",
    ],
)
def test_malformed_counters_are_passed_over(tmp_path, line):
    evidence = read(tmp_path, line)
    assert verdict(evidence, FLOOR) is not Verdict.CONFIRMED
    assert Verdict.INVALID not in {f.verdict for f in evidence.findings}


_MEASURE = """
import sys
from pathlib import Path
from hypotree.model.verdict import Role
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
run_probe(ProbeRun("acceptance-log", (BoundInput("log", "log", Role.OBSERVATION, sys.argv[1]),), {}))
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def test_a_log_of_any_size_takes_the_same_memory(tmp_path):
    """64 MiB of lines and one line of 64 MiB: under 64 MiB in all."""
    text = (sglang_line(2.61, 0.54) + "\n") * 300_000 + "x" * (64 << 20) + "\n"
    (tmp_path / "server.log").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(tmp_path / "server.log")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64 * 1024
