"""training-contract: what a sample holds, and what its reader takes it for."""

from __future__ import annotations

import pytest
from probe_asking import GUESS, ask, assert_case, case_params, verdict, why

from hypotree.model.verdict import Verdict
from hypotree_probes.eagle3.draft_replay_cases import plant_replay
from hypotree_probes.eagle3.training_cases import plant_sample
from hypotree_probes.eagle3.training_contract import TrainingContract

SHIFT, NORM, MASK = "training.token-shift", "training.final-norm", "training.loss-mask"


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(TrainingContract, "isolated", False)


@pytest.mark.parametrize("case", case_params(TrainingContract))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(TrainingContract, case)


@pytest.mark.parametrize(("rows", "word"), [(1, "later"), (-1, "earlier")])
def test_the_side_of_a_shift_is_told(tmp_path, rows, word):
    assert word in why(ask(TrainingContract, plant_sample(tmp_path, rows=rows)), SHIFT)


def test_a_state_before_the_norm_is_a_suspicion_in_modelopts_form(tmp_path):
    given = plant_sample(tmp_path, after=False)
    path = tmp_path / "sample.safetensors"
    data = path.read_bytes().replace(b'"aux_hidden_state"', b'"aux_hidden_states"')
    data = data.replace(b'"hidden_state"', b'"hidden_states"')
    length = int.from_bytes(data[:8], "little")
    grown = data.index(b"}}", 8) + 2 - 8
    path.write_bytes(max(grown, length + 2).to_bytes(8, "little") + data[8:])
    found = ask(TrainingContract, given).finding(NORM)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)


def test_without_a_target_only_the_sample_itself_is_judged(tmp_path):
    given = plant_sample(tmp_path)
    del given["target"]
    evidence = ask(TrainingContract, given)
    assert verdict(evidence, SHIFT) is Verdict.NOT_RUN
    assert verdict(evidence, MASK) is Verdict.REFUTED


def test_a_sample_of_another_target_decides_nothing(tmp_path):
    given = plant_sample(tmp_path)
    (tmp_path / "other").mkdir()
    given["sample"] = plant_replay(tmp_path / "other")["sample"]
    evidence = ask(TrainingContract, given)
    assert verdict(evidence, SHIFT) is Verdict.INCONCLUSIVE
