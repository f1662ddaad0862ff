"""Released sources, unpacked and never installed: two SGLang wheels always, more when slow."""

from __future__ import annotations

from pathlib import Path

import pytest
from probes.engines.engine_kit import (
    SPECFORGE,
    SPECULATORS,
    confirmed,
    files_read,
    probe,
    values,
    wheel,
)

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.fix.stage import stage
from hypotree.model.verdict import Authority, Role
from hypotree.probe.runner import BoundInput, ProbeRun, run_here
from hypotree_probes.engines.coverage_cases import HEALTHY_CONFIG, healthy_tensors
from hypotree_probes.engines.rules import rule_set
from hypotree_probes.engines.table import draft_row, target_row
from hypotree_probes.planting import plant_checkpoint

OLD, NEW = "sglang@0.5.10", "sglang@0.5.12"
MODEL = "srt/models/llama_eagle3.py"


def test_layers_0_is_lost_on_0_5_10_and_its_own_renaming_brings_it_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = wheel(OLD, monkeypatch)
    evidence = probe("param-coverage", draft=SPECULATORS, engine=spec)
    assert confirmed(evidence) == {"params.renamed", "params.dropped", "params.unwritten"}
    assert evidence.measures["parameters-unwritten"] == 7
    assert {f.authority for f in evidence.findings} == {Authority.SOURCE_OF_TRUTH}
    (edit,) = evidence.finding("params.renamed").remedy
    subject = Checkpoint(str(SPECULATORS))
    view = stage(subject, (edit,), {"draft": subject})
    bound = (
        BoundInput("draft", "checkpoint", Role.SUBJECT, str(SPECULATORS), tree=view),
        BoundInput("engine", "engine", Role.TRUTH, spec),
    )
    assert confirmed(run_here(ProbeRun("param-coverage", bound, {}))) == set()


def test_the_run_names_the_very_file_that_the_rules_were_read_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evidence = probe("param-coverage", draft=SPECULATORS, engine=wheel(NEW, monkeypatch))
    assert confirmed(evidence) == set()
    known = {digest for rule in rule_set("sglang").rules for digest in rule.read}
    assert files_read(evidence)[MODEL] in known


@pytest.mark.parametrize("draft", [SPECULATORS, SPECFORGE], ids=lambda path: path.name)
def test_the_forward_equals_the_reference_where_the_draft_is_loaded_whole(
    draft: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = values(wheel(NEW, monkeypatch), draft, 96)
    stages = {row["stage"]: row["difference"] for row in run["compared"]["stages"]}
    assert {"fused", "embedded", "normed", "logits", "second step"} <= set(stages)
    assert max(stages.values()) <= 1e-5
    assert run["compared"]["diverges"] == ""


def test_a_random_layer_is_seen_where_the_draft_is_not_loaded_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = values(wheel(OLD, monkeypatch), SPECULATORS, 96)
    # fc is loaded still, and this producer's norms are ones, as the lost layer's are.
    assert run["compared"]["diverges"] == "logits"


@pytest.mark.parametrize(
    ("spec", "kimi"), [(OLD, "[3, 31, 59]"), (NEW, "[3, 31, 59]")], ids=[OLD, NEW]
)
def test_ids_2_30_58_are_captured_behind_those_layers(
    spec: str, kimi: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, faults = target_row(Engine(wheel(spec, monkeypatch)))
    assert row[1:4] == ("[3, 31, 59]", kimi, "[3, 31, 59]")
    # mllama4's guard is silent only where the inner class lacks the setter; it inherits it.
    assert not [fault for fault in faults if "mllama4" in fault]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "unwritten", "llama", "kimi"),
    [
        # Its setter takes no ids yet.
        ("sglang@0.4.6", "7", "raises", "no class"),
        ("sglang@0.5.2", "7", "[3, 31, 59]", "no class"),
        ("sglang@0.5.6", "7", "[3, 31, 59]", "no class"),
        ("sglang@0.5.8", "7", "[3, 31, 59]", "no class"),
        ("sglang@0.5.9", "7", "[3, 31, 59]", "none"),
        ("sglang@0.5.11", "7", "[3, 31, 59]", "[3, 31, 59]"),
        ("sglang@0.5.14", "0", "[3, 31, 59]", "[2, 30, 58]"),
        ("sglang@0.5.16", "0", "[3, 31, 59]", "[2, 30, 58]"),
        ("sglang@0.5.20", "0", "[3, 31, 59]", "[2, 30, 58]"),
        ("sglang@0.5.23", "0", "[3, 31, 59]", "[2, 30, 58]"),
    ],
)
def test_the_facts_hold_on_every_release(
    spec: str, unwritten: str, llama: str, kimi: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(wheel(spec, monkeypatch))
    row = draft_row(engine, SPECULATORS)
    assert row[3] == unwritten
    assert row[5:] == ("fires", "silent")
    captured, _ = target_row(engine)
    assert captured[1:3] == (llama, kimi)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["vllm@0.20.0", "vllm@0.28.0", "vllm@0.33.0"])
def test_vllm_loads_both_names_whole_and_always_applies_fc(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(wheel(spec, monkeypatch))
    for draft in (SPECULATORS, SPECFORGE):
        row = draft_row(engine, draft)
        assert row[3:] == ("0", "0", "fires", "stops")
        assert values(spec, draft, 96)["compared"]["diverges"] == ""


@pytest.mark.slow
def test_a_qwen3_draft_stops_vllm_0_20_and_has_a_class_of_its_own_in_0_33(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    qwen3 = SPECULATORS.with_name("speculators-0.9.0-qwen3")
    old = probe("param-coverage", draft=qwen3, engine=wheel("vllm@0.20.0", monkeypatch))
    assert confirmed(old) == {"params.dropped"}
    assert "stops at start" in old.finding("params.dropped").why
    new = probe("param-coverage", draft=qwen3, engine=wheel("vllm@0.33.0", monkeypatch))
    assert confirmed(new) == set()


@pytest.mark.slow
def test_kimi_k25_has_no_setter_in_0_5_9_and_delegates_in_0_5_10(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text(
        '{"architectures": ["KimiK25ForConditionalGeneration"],'
        ' "text_config": {"num_hidden_layers": 61, "hidden_size": 7168}}'
    )
    found = {
        spec: confirmed(
            probe("delegation", draft=SPECFORGE, target=tmp_path, engine=wheel(spec, monkeypatch))
        )
        for spec in ("sglang@0.5.9", "sglang@0.5.10")
    }
    assert found == {"sglang@0.5.9": {"aux.delegation-missing"}, "sglang@0.5.10": set()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "is_ignored"), [("sglang@0.5.16", True), ("sglang@0.5.18", False)]
)
def test_norm_before_fc_is_read_from_0_5_17(
    spec: str, is_ignored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = plant_checkpoint(
        tmp_path, healthy_tensors("midlayer"), HEALTHY_CONFIG | {"norm_before_fc": True}
    )
    found = confirmed(probe("config-effective", draft=draft, engine=wheel(spec, monkeypatch)))
    assert ("config.norm-flag-ignored" in found) is is_ignored


@pytest.mark.slow
def test_rope_parameters_are_read_from_0_5_10(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = HEALTHY_CONFIG | {"rope_parameters": {"rope_theta": 500000.0, "rope_type": "default"}}
    draft = plant_checkpoint(tmp_path, healthy_tensors("midlayer"), config)
    found = {
        spec: "config.rope-mismatch"
        in confirmed(probe("config-effective", draft=draft, engine=wheel(spec, monkeypatch)))
        for spec in ("sglang@0.5.9", "sglang@0.5.10")
    }
    assert found == {"sglang@0.5.9": True, "sglang@0.5.10": False}
