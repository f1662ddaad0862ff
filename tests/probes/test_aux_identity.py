"""aux-identity: what captured states are, not how wide."""

from __future__ import annotations

import pytest
import torch
from probe_asking import TRUTH, ask, assert_case, case_params, stale_reads

from hypotree.model.verdict import Role, Verdict
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
from hypotree_probes.eagle3.aux_identity import CONTENT, AuxIdentity
from hypotree_probes.eagle3.aux_identity_cases import (
    right,
    turned,
    with_capture,
    with_target,
)
from hypotree_probes.eagle3.draft_replay_cases import plant_replay


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Run in this process: the case matters here, not the worker."""
    monkeypatch.setattr(AuxIdentity, "isolated", False)


@pytest.mark.parametrize("case", case_params(AuxIdentity))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(AuxIdentity, case)


def check(given, params=None):
    kinds = {taken.name: taken for taken in AuxIdentity.takes}
    bound = tuple(BoundInput(n, kinds[n].kind, kinds[n].role, at) for n, at in given.items())
    return run_probe(ProbeRun("aux-identity", bound, params or {}))


def found_in(tmp_path, plant, params=None):
    evidence = check(plant(tmp_path), params)
    return evidence.finding(CONTENT), [row[1] for row in evidence.tables[0].rows]


def test_each_block_is_named_by_its_physical_layer(tmp_path):
    finding, blocks = found_in(tmp_path, with_target(right))
    assert blocks == ["S_1", "S_2", "S_4"]
    assert (finding.verdict, finding.authority, finding.truth) == (
        Verdict.REFUTED, TRUTH, ("target",)
    )  # fmt: skip


def test_shifted_captures_name_both_layers(tmp_path):
    plant = with_target(lambda states, _: [states.layers[i - 1].whole for i in (1, 2, 4)])
    finding, blocks = found_in(tmp_path, plant)
    assert blocks == ["S_0", "S_1", "S_3"]
    assert "it is S_0, and training read S_1" in finding.why


@pytest.mark.parametrize(
    ("take", "what"),
    [
        (lambda _, t: [t[0].added, t[1].whole, t[2].whole], "S_1 without its residual"),
        (lambda s, t: [t[0].whole, s.normed(t[1].whole), t[2].whole], "S_2 after the final norm"),
        (lambda _, t: [t[0].whole, t[1].whole, t[2].last_part], "S_4's MLP alone"),
    ],
)
def test_a_part_of_a_layer_is_told_apart(tmp_path, take, what):
    finding, blocks = found_in(tmp_path, with_target(take))
    assert what in blocks and what in finding.why


def test_a_norm_of_unknown_weight_is_told_too(tmp_path):
    def take(_, three):
        scaled = [x.whole / x.whole.pow(2).mean(-1, keepdim=True).sqrt() for x in three]
        return [x * torch.linspace(0.2, 2, x.shape[-1]) for x in scaled]

    finding, _ = found_in(tmp_path, with_target(take))
    assert "after a norm" in finding.why


def test_another_basis_keeps_lengths_and_loses_directions(tmp_path):
    finding, blocks = found_in(tmp_path, with_target(turned))
    assert set(blocks) == {"another basis"}
    assert finding.verdict is Verdict.CONFIRMED


def test_eight_bits_on_the_way_are_seen_beside_a_finer_capture(tmp_path):
    def take(_, three):
        return [x.whole.to(torch.float8_e4m3fn).float() for x in three]

    finding, _ = found_in(tmp_path, with_capture(take))
    assert "rounded to a few bits" in finding.why


def test_arithmetic_of_another_kernel_is_no_fault(tmp_path):
    def take(_, three):
        noise = torch.randn(three[0].whole.shape, generator=torch.Generator().manual_seed(2))
        return [x.whole * (1 + 0.02 * noise) for x in three]

    assert found_in(tmp_path, with_target(take))[0].verdict is Verdict.REFUTED


def test_layers_can_be_declared(tmp_path):
    plant = with_target(right)
    finding, _ = found_in(tmp_path, plant, {"layers": "0,2,4"})
    assert "it is S_1, and training read S_0" in finding.why


def test_without_expectation_any_layer_will_do(tmp_path):
    given = dict(with_target(lambda s, _: [s.layers[i].whole for i in (0, 3, 5)])(tmp_path))
    del given["draft"]
    assert check(given).finding(CONTENT).verdict is Verdict.REFUTED


def test_captures_of_other_tokens_decide_nothing(tmp_path):
    given = dict(with_capture(right)(tmp_path))
    (tmp_path / "other").mkdir()
    given["truth"] = plant_replay(tmp_path / "other")["sample"]
    assert check(given).finding(CONTENT).verdict is Verdict.INCONCLUSIVE


def test_a_target_of_another_kind_decides_nothing(tmp_path):
    given = with_target(right)(tmp_path)
    config = tmp_path / "target" / "draft" / "config.json"
    config.write_text(config.read_text().replace('"llama"', '"deepseek_v3"'))
    finding = check(given).finding(CONTENT)
    assert finding.verdict is Verdict.INCONCLUSIVE and "deepseek_v3" in finding.why


@pytest.mark.parametrize(
    "field",
    ['"rope_scaling": {"rope_type": "llama3"}', '"hidden_act": "gelu"', '"sliding_window": 8'],
)
def test_what_the_forward_does_not_compute_decides_nothing(tmp_path, field):
    given = with_target(right)(tmp_path)
    config = tmp_path / "target" / "draft" / "config.json"
    config.write_text(config.read_text().replace("{", "{" + field + ", ", 1))
    assert check(given).finding(CONTENT).verdict is Verdict.INCONCLUSIVE


def test_the_evidence_can_be_checked(tmp_path):
    assert stale_reads(check(with_target(right)(tmp_path))) == []
    assert Role.TRUTH in {
        i.role for i in ask(AuxIdentity, with_capture(right)(_new(tmp_path))).inputs
    }


def _new(tmp_path):
    folder = tmp_path / "more"
    folder.mkdir()
    return folder
