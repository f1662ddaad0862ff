"""param-coverage on the producers' checkpoints, on planted faults, and where it cannot know."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hypotree.artifact.engine import Engine
from hypotree.model.edit import RenameTensors
from hypotree.model.evidence import Evidence
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.canary import check_case
from hypotree.probe.runner import BoundInput, ProbeRun, run_here
from hypotree_probes.engines import coverage_facts
from hypotree_probes.engines.coverage_cases import CASES, HEALTHY_CONFIG, healthy_tensors
from hypotree_probes.engines.param_coverage import ParamCoverage
from hypotree_probes.engines.rules import rule_set
from hypotree_probes.planting import blank, plant_checkpoint

PRODUCERS = Path(__file__).parent.parent / "cases" / "producers"
LLAMA, QWEN3 = "speculators-0.9.0-llama", "speculators-0.9.0-qwen3"
SPECFORGE, EXPORT = "specforge-0.2.0", "specforge-0.2.0-export"
OLD = ("sglang@0.5.2", "sglang@0.5.8", "sglang@0.5.9", "sglang@0.5.10", "sglang@0.5.11")
NEW = ("sglang@0.5.12", "sglang@0.5.16", "sglang@0.5.23")


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pack's own entry point, whether or not this tree is installed."""
    target = "hypotree_probes.engines.param_coverage:ParamCoverage"
    monkeypatch.setattr("hypotree.probe.registry.declared", lambda: {"param-coverage": target})


def probe(draft: Path | str, engine: str = "") -> Evidence:
    bound = [BoundInput("draft", "checkpoint", Role.SUBJECT, str(draft))]
    if engine:
        bound.append(BoundInput("engine", "engine", Role.TRUTH, engine))
    return run_here(ProbeRun("param-coverage", tuple(bound), {}))


def confirmed(evidence: Evidence) -> set[str]:
    return {f.fault for f in evidence.findings if f.verdict is Verdict.CONFIRMED}


def is_healthy(evidence: Evidence) -> bool:
    return all(
        f.verdict is Verdict.REFUTED and f.authority is Authority.SOURCE_OF_TRUTH
        for f in evidence.findings
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.fault}-{case.report}")
def test_a_planted_fault_is_confirmed_and_its_healthy_twin_is_not(case) -> None:
    assert check_case(ParamCoverage, case) == ""


def test_every_code_has_a_case() -> None:
    assert {case.fault for case in CASES} == {fault.code for fault in ParamCoverage.decides}


@pytest.mark.parametrize("engine", OLD)
def test_layers_0_is_renamed_dropped_and_unwritten_on_sglang_up_to_0_5_11(engine: str) -> None:
    evidence = probe(PRODUCERS / LLAMA, engine)
    assert confirmed(evidence) == {"params.renamed", "params.dropped", "params.unwritten"}
    assert evidence.measures == {
        "tensors-used": 4, "tensors-dropped": 10, "parameters-unwritten": 7,
    }  # fmt: skip


def test_the_reason_names_the_counts_the_release_and_an_example() -> None:
    found = probe(PRODUCERS / LLAMA, "sglang@0.5.9").finding("params.renamed")
    assert found.why == (
        "sglang 0.5.9 knows the decoder layer as midlayer.*; 10 tensors named layers.0.* are "
        "dropped without a message, so 7 of its parameters keep their start values (random; ones "
        "in norms); for example layers.0.hidden_norm.weight should be midlayer.hidden_norm.weight"
    )
    assert found.truth == ("engine",)


@pytest.mark.parametrize("engine", [*NEW, "vllm@0.20.0", "vllm@0.33.0"])
def test_the_same_layers_0_checkpoint_is_healthy_where_the_engine_has_the_names(
    engine: str,
) -> None:
    assert is_healthy(probe(PRODUCERS / LLAMA, engine))


@pytest.mark.parametrize("engine", [*OLD, *NEW])
def test_q_norm_and_k_norm_of_a_qwen3_draft_are_dropped_on_every_sglang(engine: str) -> None:
    found = probe(PRODUCERS / QWEN3, engine).finding("params.dropped")
    assert found.verdict is Verdict.CONFIRMED
    assert "normalisation of queries and keys" in found.why
    tensors = {locator.tensor.rpartition("attn.")[2] for locator in found.locators}
    assert {"q_norm.weight", "k_norm.weight"} <= tensors


def test_a_qwen3_draft_is_healthy_on_the_vllm_that_has_a_class_for_it() -> None:
    assert is_healthy(probe(PRODUCERS / QWEN3, "vllm@0.33.0"))


def test_a_qwen3_draft_stops_the_vllm_that_takes_it_for_a_llama() -> None:
    evidence = probe(PRODUCERS / QWEN3, "vllm@0.20.0")
    assert confirmed(evidence) == {"params.dropped"}
    assert "the engine stops at start" in evidence.finding("params.dropped").why


@pytest.mark.parametrize("draft", [SPECFORGE, EXPORT])
@pytest.mark.parametrize("engine", [*OLD, *NEW, "vllm@0.20.0", "vllm@0.33.0"])
def test_midlayer_names_are_healthy_everywhere_with_or_without_embeddings(
    draft: str, engine: str
) -> None:
    assert is_healthy(probe(PRODUCERS / draft, engine))


def test_after_its_own_renaming_everything_is_refuted(tmp_path: Path) -> None:
    found = probe(PRODUCERS / LLAMA, "sglang@0.5.9").finding("params.renamed")
    (edit,) = found.remedy
    assert isinstance(edit, RenameTensors)
    assert len(edit.names) == 10
    copy = _rewritten(PRODUCERS / LLAMA, tmp_path, edit.names)
    assert is_healthy(probe(copy, "sglang@0.5.9"))


def _rewritten(source: Path, folder: Path, names: dict[str, str]) -> Path:
    copy = folder / "renamed"
    shutil.copytree(source, copy)
    data = (source / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    text = json.dumps({names.get(name, name): entry for name, entry in header.items()}).encode()
    text += b" " * (-len(text) % 8)
    shard = len(text).to_bytes(8, "little") + text + data[8 + length :]
    (copy / "model.safetensors").write_bytes(shard)
    return copy


def test_without_an_engine_nothing_is_decided() -> None:
    evidence = probe(PRODUCERS / LLAMA)
    assert {f.verdict for f in evidence.findings} == {Verdict.NOT_RUN}


@pytest.mark.parametrize("engine", ["trtllm", "sglang"])
def test_an_engine_without_rules_or_release_is_inconclusive(engine: str) -> None:
    evidence = probe(PRODUCERS / LLAMA, engine)
    assert {f.verdict for f in evidence.findings} == {Verdict.INCONCLUSIVE}


@pytest.mark.parametrize("engine", ["sglang@0.5.99", "sglang@0.4.1", "vllm@0.21.0"])
def test_a_release_that_was_not_read_is_answered_as_a_heuristic_only(engine: str) -> None:
    evidence = probe(PRODUCERS / QWEN3, engine)
    assert {f.authority for f in evidence.findings} == {Authority.HEURISTIC}
    assert all("was not read" in f.why for f in evidence.findings)


def test_a_source_tree_with_a_changed_model_file_is_answered_as_a_heuristic_only(
    tmp_path: Path,
) -> None:
    models = tmp_path / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    (tmp_path / "sglang" / "version.py").write_text('__version__ = "0.5.9"\n')
    (models / "llama_eagle3.py").write_text("# patched by hand\n")
    evidence = probe(PRODUCERS / LLAMA, f"sglang:{tmp_path}")
    assert evidence.finding("params.renamed").authority is Authority.HEURISTIC
    assert "none of the releases" in evidence.finding("params.renamed").why


def test_a_tree_is_judged_by_its_model_file_and_its_release_settles_what_two_releases_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    llama, qwen3 = _full("24d96b92"), _full("974b1ee2")
    monkeypatch.setattr(
        coverage_facts, "_sha256", lambda _, file: qwen3 if "qwen3" in file else llama
    )
    engine = Engine("vllm@0.24.0")
    engine.package = Path("vllm")
    match = coverage_facts.match_engine(engine, "speculators:qwen3")
    assert match.rule.model_class == "Eagle3Qwen3ForCausalLM"
    assert match.is_inside


def _full(start: str) -> str:
    read = [digest for rule in rule_set("vllm").rules for digest in rule.read]
    return next(digest for digest in read if digest.startswith(start))


def test_the_rule_file_is_cited_with_its_digest() -> None:
    evidence = probe(PRODUCERS / LLAMA, "sglang@0.5.9")
    assert evidence.input("rules").path == "hypotree_probes/engines/rules/sglang.yaml"


def test_the_summary_says_that_a_speculators_config_is_taken_as_converted() -> None:
    assert "taken as converted" in probe(PRODUCERS / LLAMA, "sglang@0.5.12").summary
    assert "taken as converted" not in probe(PRODUCERS / LLAMA, "vllm@0.33.0").summary


@pytest.mark.parametrize(
    ("change", "engine", "is_missing"),
    [
        ({}, "sglang@0.5.12", True),
        ({"draft_vocab_size": 32}, "sglang@0.5.12", True),
        ({"draft_vocab_size": None}, "sglang@0.5.12", False),
        ({"tie_word_embeddings": True}, "sglang@0.5.12", False),
        ({}, "vllm@0.33.0", True),
        ({"draft_vocab_size": 32}, "vllm@0.33.0", False),
        ({"draft_vocab_size": None}, "vllm@0.33.0", False),
    ],
)
def test_a_missing_head_is_a_fault_unless_the_right_one_comes_from_the_target(
    tmp_path: Path, change: dict[str, object], engine: str, is_missing: bool
) -> None:
    tensors = healthy_tensors("layers.0")
    del tensors["lm_head.weight"], tensors["d2t"]
    draft = plant_checkpoint(tmp_path, tensors, HEALTHY_CONFIG | change)
    found = confirmed(probe(draft, engine))
    assert found == ({"params.lm-head-missing"} if is_missing else set())


def test_embeddings_of_another_width_than_the_target_must_be_in_the_file(tmp_path: Path) -> None:
    config = HEALTHY_CONFIG | {"target_hidden_size": 16}
    draft = plant_checkpoint(tmp_path, healthy_tensors("layers.0"), config)
    assert confirmed(probe(draft, "sglang@0.5.12")) == {"params.unwritten"}


def test_a_full_vocabulary_map_stops_the_vllm_that_has_no_parameter_for_it(tmp_path: Path) -> None:
    tensors = healthy_tensors("layers.0") | {"lm_head.weight": blank("BF16", 32, 8)}
    draft = plant_checkpoint(tmp_path, tensors, HEALTHY_CONFIG | {"draft_vocab_size": 32})
    assert confirmed(probe(draft, "vllm@0.33.0")) == {"params.dropped"}
    assert confirmed(probe(draft, "vllm@0.28.0")) == set()
    assert confirmed(probe(draft, "sglang@0.5.12")) == set()


def test_a_quantised_draft_is_inconclusive(tmp_path: Path) -> None:
    config = HEALTHY_CONFIG | {"quantization_config": {"quant_method": "fp8"}}
    draft = plant_checkpoint(tmp_path, healthy_tensors("layers.0"), config)
    evidence = probe(draft, "sglang@0.5.12")
    assert {f.verdict for f in evidence.findings} == {Verdict.INCONCLUSIVE}
