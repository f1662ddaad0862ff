"""config-contract: a config is a claim."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_asking import GUESS, TRUTH, ask, assert_case, case_params, stale_reads, verdict, why

from hypotree.model.verdict import Verdict
from hypotree_probes.eagle3.config_contract import ConfigContract
from hypotree_probes.eagle3.contract_cases import H, V, plant_draft, plant_target
from hypotree_probes.planting import blank, plant_checkpoint

VOCABULARY, TENSORS = "config.draft-vocab-mismatch", "config.tensor-mismatch"
TIED, TARGET = "config.head-tied-away", "config.target-mismatch"
PRODUCERS = sorted((Path(__file__).parents[1] / "cases" / "producers").iterdir())


@pytest.mark.parametrize("case", case_params(ConfigContract))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(ConfigContract, case)


@pytest.mark.parametrize("folder", PRODUCERS, ids=lambda f: f.name)
def test_what_the_producers_saved_is_healthy(folder):
    evidence = ask(ConfigContract, {"draft": str(folder)})
    assert {f.verdict for f in evidence.findings} <= {Verdict.REFUTED, Verdict.NOT_RUN}


def check(folder, config=None, **sizes):
    return ask(ConfigContract, plant_draft(folder, config, **sizes))


def test_two_tensors_against_the_field_say_that_the_field_is_wrong(tmp_path):
    evidence = check(tmp_path, head=5, map_length=5)
    assert "the field is wrong" in why(evidence, VOCABULARY)
    assert evidence.finding(VOCABULARY).authority is TRUTH
    assert stale_reads(evidence) == []


def test_the_field_and_the_head_against_the_map_say_that_the_map_is_wrong(tmp_path):
    assert "d2t is wrong" in why(check(tmp_path, map_length=7), VOCABULARY)


def test_three_that_disagree_accuse_nobody(tmp_path):
    assert "no two of them agree" in why(check(tmp_path, head=5, map_length=7), VOCABULARY)


def test_a_draft_without_head_and_map_is_nothing_to_compare(tmp_path):
    config = {"hidden_size": H, "vocab_size": V, "draft_vocab_size": 8}
    draft = plant_checkpoint(tmp_path, {"fc.weight": blank("BF16", H, 3 * H)}, config)
    evidence = ask(ConfigContract, {"draft": draft})
    assert verdict(evidence, VOCABULARY) is Verdict.NOT_RUN


def test_a_full_vocabulary_needs_no_field(tmp_path):
    evidence = check(tmp_path, {"draft_vocab_size": "absent"}, head=V, map_length=V)
    assert verdict(evidence, VOCABULARY) is Verdict.REFUTED


def test_latent_attention_has_other_widths_and_is_not_accused(tmp_path):
    config = {"model_type": "deepseek_v3", "num_attention_heads": 64}
    assert verdict(check(tmp_path, config), TENSORS) is Verdict.REFUTED


def test_a_tied_head_of_the_full_vocabulary_is_no_fault(tmp_path):
    evidence = check(tmp_path, {"tie_word_embeddings": True}, head=V)
    assert verdict(evidence, TIED) is Verdict.REFUTED


def test_another_vocabulary_of_the_target_is_a_suspicion(tmp_path):
    given = {**plant_draft(tmp_path, {"vocab_size": V + 64}), **plant_target(tmp_path, H)}
    found = ask(ConfigContract, given).finding(TARGET)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)


def test_a_checkpoint_without_config_has_made_no_claim(tmp_path):
    draft = plant_checkpoint(tmp_path, {"fc.weight": blank("BF16", H, 3 * H)})
    evidence = ask(ConfigContract, {"draft": draft})
    assert {f.verdict for f in evidence.findings} == {Verdict.NOT_RUN}
