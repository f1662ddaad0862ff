"""d2t-coverage: the ceiling that a map puts on acceptance; and the token files that people have."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from probe_asking import GUESS, TRUTH, ask, assert_case, case_params, stale_reads, verdict

from hypotree.artifact.token_counts import TokenCounts
from hypotree.errors import UnreadableError
from hypotree.model.verdict import Verdict
from hypotree_probes.eagle3.coverage_of_text_cases import plant_workload
from hypotree_probes.eagle3.d2t_coverage import LOW, D2tCoverage
from hypotree_probes.planting import blank, ids, plant_checkpoint, safetensors_bytes


@pytest.mark.parametrize("case", case_params(D2tCoverage))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(D2tCoverage, case)


def test_the_ceiling_is_the_sum_of_the_powers(tmp_path):
    evidence = ask(D2tCoverage, plant_workload(tmp_path, [0, 2, 4, 17]))
    assert evidence.measures["coverage"] == 0.75
    assert evidence.measures["length_ceiling"] == round(sum(0.75**k for k in range(5)), 4)
    assert evidence.measures["best_coverage"] == 1.0
    found = evidence.finding(LOW)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)
    assert evidence.tables[0].rows == ((17, 1, 0.25),)
    assert stale_reads(evidence) == []


def test_a_map_that_knows_none_of_the_text_is_arithmetic_not_a_guess(tmp_path):
    found = ask(D2tCoverage, plant_workload(tmp_path, [17] * 100)).finding(LOW)
    assert (found.verdict, found.authority, found.truth) == (Verdict.CONFIRMED, TRUTH, ("tokens",))


def test_without_a_map_draft_ids_are_target_ids(tmp_path):
    (tmp_path / "tokens.txt").write_text("0 1 2 3\n7 9\n")
    tensors = {"lm_head.weight": blank("BF16", 8, 4)}
    draft = plant_checkpoint(tmp_path, tensors, {"vocab_size": 64, "draft_vocab_size": 8})
    given = {"draft": draft, "tokens": str(tmp_path / "tokens.txt")}
    assert ask(D2tCoverage, given).measures["coverage"] == round(5 / 6, 4)


def test_a_map_that_cannot_be_read_says_nothing(tmp_path):
    (tmp_path / "tokens.txt").write_text("0 1\n")
    draft = plant_checkpoint(tmp_path, {"d2t": blank("BF16", 8)}, {"draft_vocab_size": 8})
    given = {"draft": draft, "tokens": str(tmp_path / "tokens.txt")}
    assert verdict(ask(D2tCoverage, given), LOW) is Verdict.NOT_RUN


# -- token files -------------------------------------------------------------------


def read(path: Path) -> dict[int, int]:
    return dict(TokenCounts(str(path)).counts())


@pytest.mark.parametrize(
    "text",
    [
        '{"input_ids": [1, 2, 2]}',
        "[1, 2, 2]",
        "1 2 2",
        "1, 2, 2",
        '{"x": 1}\n{"token_ids": [1,2,2]}',
    ],
)
def test_text_forms(tmp_path, text):
    (tmp_path / "t.jsonl").write_text(text + "\n\n")
    assert read(tmp_path / "t.jsonl") == {1: 1, 2: 2}


@pytest.mark.parametrize("form", ["ids", "sample", "freq", "dict", "npy", "safetensors"])
def test_binary_forms(tmp_path, form):
    values = torch.tensor([[1, 2, 2]])
    path = tmp_path / {"freq": "token_freq.pt", "npy": "a.npy", "safetensors": "a.safetensors"}.get(
        form, "a.pt"
    )
    if form == "npy":
        np.save(path, values.numpy())
    elif form == "safetensors":
        path.write_bytes(safetensors_bytes({"token_ids": ids([1, 2, 2])}))
    else:
        torch.save(
            {
                "ids": values,
                "sample": {"input_ids": values, "loss_mask": values},
                "freq": torch.tensor([0, 1, 2]),
                "dict": {1: 1, 2: 2},
            }[form],
            path,
        )
    assert read(path) == {1: 1, 2: 2}


@pytest.mark.parametrize("text", ["", "hello world", '{"input_ids": [-1]}', "[" * 5000, "1" * 40])
def test_what_holds_no_ids_is_unreadable(tmp_path, text):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(UnreadableError):
        read(tmp_path / "t.txt")


def test_an_input_of_any_name_can_be_given_on_the_command_line(tmp_path):
    import subprocess
    import sys

    given = plant_workload(tmp_path, [17] * 10)
    command = [sys.executable, "-m", "hypotree", "probe", "run", "d2t-coverage", "--json"]
    done = subprocess.run(
        [*command, "--draft", given["draft"], "--input", f"tokens={given['tokens']}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["measures"]["coverage"] == 0
