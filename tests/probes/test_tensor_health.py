"""tensor-health: values that a layer can compute with."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from probe_asking import GUESS, TRUTH, ask, assert_case, case_params, stale_reads, verdict, why

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.tensor import TensorValue
from hypotree.model.edit import ReplaceTensor, TensorFrom
from hypotree.model.verdict import Role, Verdict
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
from hypotree_probes.files.number_formats import COUNTED, narrow_values
from hypotree_probes.files.tensor_health import TensorHealth
from hypotree_probes.files.tensor_health_cases import H, bf16, plain_weight, plant_head
from hypotree_probes.files.tensor_statistics import Statistics
from hypotree_probes.planting import blank, ids, plant_checkpoint

NONFINITE, ZERO = "tensor.nonfinite", "tensor.all-zero"
UNTRAINED, CODES, ROWS = "tensor.looks-untrained", "tensor.integer-codes", "tensor.rows-misplaced"
PRODUCERS = sorted((Path(__file__).parents[1] / "cases" / "producers").iterdir())


@pytest.mark.parametrize("case", case_params(TensorHealth))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(TensorHealth, case)


@pytest.mark.parametrize("folder", PRODUCERS, ids=lambda f: f.name)
def test_what_the_producers_saved_is_healthy(folder):
    evidence = ask(TensorHealth, {"draft": str(folder)})
    assert {f.verdict for f in evidence.findings} <= {Verdict.REFUTED, Verdict.NOT_RUN}


def check(folder, changed=None, **more):
    return ask(TensorHealth, {**plant_head(folder, changed or {}), **more})


# -- evidence --------------------------------------------------------------------


def test_every_tensor_is_digested_as_the_checkpoint_digests_it(tmp_path):
    evidence = check(tmp_path)
    reads = [r for r in evidence.input("draft").read if r.kind == "tensor"]
    whole = Checkpoint(str(tmp_path / "draft"))
    assert {r.name for r in reads} == set(whole.names())
    for read in reads:
        whole.tensor(read.name)
    assert {(r.kind, r.name, r.sha256) for r in reads} <= {
        (r.kind, r.name, r.sha256) for r in whole.reads
    }
    assert stale_reads(evidence) == []


def test_one_changed_byte_makes_the_evidence_stale(tmp_path):
    evidence = check(tmp_path)
    path = tmp_path / "draft" / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert stale_reads(evidence) == ["draft: tensor lm_head.weight"]


def test_a_new_tensor_makes_the_evidence_stale(tmp_path):
    evidence = check(tmp_path)
    (tmp_path / "new").mkdir()
    new = plant_head(tmp_path / "new", {"extra": blank("F32", 1)})
    data = Path(new["draft"], "model.safetensors").read_bytes()
    (tmp_path / "draft" / "model.safetensors").write_bytes(data)
    assert "draft: tensor-names " in stale_reads(evidence)


# -- by definition ---------------------------------------------------------------


def test_a_head_that_was_never_loaded_is_all_nan(tmp_path):
    evidence = check(tmp_path, {"lm_head.weight": bf16([float("nan")] * 32 * H, 32, H)})
    found = evidence.finding(NONFINITE)
    assert (found.authority, found.truth) == (TRUTH, ())
    assert "never loaded" in found.why and found.locators[0].tensor == "lm_head.weight"
    assert evidence.tables[0].rows[0][0] == "lm_head.weight"


def test_a_good_copy_offers_its_bytes(tmp_path):
    (tmp_path / "good").mkdir()
    good = plant_head(tmp_path / "good", {})["draft"]
    evidence = check(tmp_path, {"fc.weight": blank("BF16", H, 3 * H)}, truth=good)
    edit = ReplaceTensor("fc.weight", TensorFrom("truth", "fc.weight"))
    assert evidence.finding(ZERO).remedy == (edit,)
    assert stale_reads(evidence) == []


def test_a_copy_with_the_same_fault_offers_nothing(tmp_path):
    (tmp_path / "bad").mkdir()
    bad = plant_head(tmp_path / "bad", {"fc.weight": blank("BF16", H, 3 * H)})["draft"]
    evidence = check(tmp_path, {"fc.weight": blank("BF16", H, 3 * H)}, truth=bad)
    assert evidence.finding(ZERO).remedy == ()


@pytest.mark.parametrize(
    "name", ["midlayer.self_attn.q_proj.bias", "d2t", "q.weight_zero_point", "x.lora_B.weight"]
)
def test_what_may_be_zero_is_not_accused(tmp_path, name):
    assert verdict(check(tmp_path, {name: blank("F32", 4, 4)}), ZERO) is Verdict.REFUTED


def test_a_matrix_of_unknown_use_that_is_zero_is_a_suspicion(tmp_path):
    found = check(tmp_path, {"adapter.weight": blank("F32", 4, 4)}).finding(ZERO)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)


def test_a_norm_of_zeros_is_right_where_one_is_added_to_it(tmp_path):
    tensors = {"norm.weight": blank("BF16", H), "fc.weight": plain_weight(4, 4)}
    draft = plant_checkpoint(tmp_path, tensors, {"model_type": "gemma2"})
    assert verdict(ask(TensorHealth, {"draft": draft}), ZERO) is Verdict.REFUTED


def test_a_head_that_is_tied_away_may_be_zero(tmp_path):
    config = {"model_type": "llama", "tie_word_embeddings": True}
    draft = plant_checkpoint(tmp_path, {"lm_head.weight": blank("BF16", 8, 8)}, config)
    found = ask(TensorHealth, {"draft": draft}).finding(ZERO)
    assert found.authority is GUESS


def test_integers_and_empty_tensors_are_no_matter(tmp_path):
    evidence = check(tmp_path, {"d2t": ids([0] * 32), "none.weight": blank("F32", 0, 4)})
    assert verdict(evidence, ZERO) is Verdict.REFUTED


# -- suspicions ------------------------------------------------------------------


def test_integer_codes_in_a_float_dtype_are_a_suspicion(tmp_path):
    codes = bf16([float(i % 16 - 8) for i in range(H * 2 * H)], H, 2 * H)
    found = check(tmp_path, {"midlayer.self_attn.q_proj.weight": codes}).finding(CODES)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)
    assert "q_proj" in found.why


@pytest.mark.parametrize("values", [[0.0, 1.0], [1.0], [2.0], [0.5, 3.0]])
def test_masks_and_constants_are_no_codes(tmp_path, values):
    matrix = bf16([values[i % len(values)] for i in range(256)], 16, 16)
    assert verdict(check(tmp_path, {"o.weight": matrix}), CODES) is Verdict.REFUTED


def f32(values, *shape):
    return TensorValue("F32", shape, np.asarray(values, "<f4").tobytes())


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_a_fresh_initialisation_is_a_suspicion(tmp_path, kind):
    draw = np.random.default_rng(3)
    size, bound = (256, 512), 512**-0.5
    values = draw.normal(0, 0.02, size) if kind == "normal" else draw.uniform(-bound, bound, size)
    found = check(tmp_path, {"o.weight": f32(values, *size)}).finding(UNTRAINED)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)
    assert kind in found.why


@pytest.mark.parametrize("change", ["spread", "mean", "tail"])
def test_a_trained_matrix_has_left_its_initialisation(tmp_path, change):
    values = np.random.default_rng(3).normal(0, 0.02, (256, 512))
    values = values * 1.03 if change == "spread" else values + (0.001 if change == "mean" else 0)
    if change == "tail":
        values[0, :4] = 0.3
    evidence = check(tmp_path, {"o.weight": f32(values, 256, 512)})
    assert verdict(evidence, UNTRAINED) is Verdict.REFUTED


# -- rows against the target's ---------------------------------------------------


W = 32


def rows_case(tmp_path, stored, held, embed=None):
    """A target of 96 rows, and a head whose row i is the target's row held[i] with some noise."""
    draw = np.random.default_rng(5)
    target = draw.normal(0, 1, (96, W))
    head = target[held] + draw.normal(0, 0.1, (len(held), W))
    tensors = {"lm_head.weight": f32(head, len(held), W), "d2t": ids(stored)}
    if embed is not None:
        tensors["embed_tokens.weight"] = f32(target[embed], len(embed), W)
    (tmp_path / "t").mkdir()
    both = {"model.embed_tokens.weight": f32(target, 96, W), "lm_head.weight": f32(target, 96, W)}
    at = plant_checkpoint(tmp_path / "t", both)
    draft = plant_checkpoint(tmp_path, tensors, {"vocab_size": 96, "draft_vocab_size": len(held)})
    return ask(TensorHealth, {"draft": draft, "target": at})


TARGETS = [3 * i + 1 for i in range(32)]
OFFSETS = [t - i for i, t in enumerate(TARGETS)]


def test_rows_that_lie_where_the_map_says_are_right(tmp_path):
    evidence = rows_case(tmp_path, OFFSETS, TARGETS)
    assert verdict(evidence, ROWS) is Verdict.REFUTED
    assert stale_reads(evidence) == []


@pytest.mark.parametrize("kind", ["permuted", "stale"])
def test_a_permuted_or_stale_map_is_a_suspicion(tmp_path, kind):
    held = (
        random.Random(1).sample(TARGETS, 32) if kind == "permuted" else [i + 40 for i in range(32)]
    )
    evidence = rows_case(tmp_path, OFFSETS, held)
    found = evidence.finding(ROWS)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)
    assert "the map says" in found.why
    assert stale_reads(evidence) == []


def test_shifted_rows_of_the_embedding_are_a_suspicion(tmp_path):
    shifted = [(i + 1) % 96 for i in range(96)]
    evidence = rows_case(tmp_path, OFFSETS, TARGETS, shifted)
    assert verdict(evidence, ROWS) is Verdict.CONFIRMED
    assert "embed_tokens" in why(evidence, ROWS)


def test_a_head_that_was_trained_from_scratch_is_not_accused(tmp_path):
    at = plant_checkpoint(tmp_path / "t", {"lm_head.weight": f32(np.eye(64, H), 64, H)})
    assert verdict(check(tmp_path, target=at), ROWS) is Verdict.NOT_RUN


def test_rows_that_are_alike_by_chance_are_not_accused(tmp_path):
    """As in the founding incident: 163,840 rows of width 48, of which some are alike by chance."""
    draw = np.random.default_rng(2)
    target, head = draw.normal(0, 1, (20_000, 16)), draw.normal(0, 1, (32, 16))
    at = plant_checkpoint(tmp_path / "t", {"lm_head.weight": f32(target, 20_000, 16)})
    draft = plant_checkpoint(tmp_path, {"lm_head.weight": f32(head, 32, 16)})
    assert verdict(ask(TensorHealth, {"draft": draft, "target": at}), ROWS) is Verdict.NOT_RUN


def test_a_target_that_is_only_a_config_compares_nothing(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "config.json").write_text("{}")
    assert verdict(check(tmp_path, target=str(tmp_path / "t")), ROWS) is Verdict.NOT_RUN


# -- numbers ---------------------------------------------------------------------

_TORCH = {
    "BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32, "F64": torch.float64,
    "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
    "F8_E4M3FNUZ": torch.float8_e4m3fnuz, "F8_E5M2FNUZ": torch.float8_e5m2fnuz,
    "F8_E8M0": torch.float8_e8m0fnu,
}  # fmt: skip


@pytest.mark.parametrize("dtype", sorted(set(_TORCH) & COUNTED))
def test_every_bit_pattern_is_counted_as_torch_counts_it(dtype):
    data = random.Random(7).randbytes(64 * 1024)
    if dtype == "BF16":
        data += bytes(b for i in range(65536) for b in i.to_bytes(2, "little"))
    found = Statistics(dtype)
    for at in range(0, len(data), 8192):
        found.add(data[at : at + 8192])
    values = torch.frombuffer(bytearray(data), dtype=_TORCH[dtype]).to(torch.float64)
    finite = values[values.isfinite()]
    assert found.count == values.numel()
    assert found.nan == int(values.isnan().sum())
    assert found.infinite == int(values.isinf().sum())
    assert found.positive_infinite == int((values == torch.inf).sum())
    assert found.zeros == int((values == 0).sum())
    assert found.largest == float(finite.abs().max())
    if dtype != "F64":
        assert found.total == pytest.approx(float(finite.sum()), rel=1e-3)


@pytest.mark.parametrize("dtype", ["BF16", "F16", "F32", "F64"])
def test_mean_and_spread_are_those_of_numpy(dtype):
    values = torch.tensor(np.random.default_rng(1).normal(0.01, 0.3, 20_001)).to(_TORCH[dtype])
    found = Statistics(dtype)
    found.add(values.view(torch.uint8).numpy().tobytes())
    exact = values.to(torch.float64)
    assert found.mean == pytest.approx(float(exact.mean()), rel=1e-4)
    assert found.deviation == pytest.approx(float(exact.std(correction=0)), rel=1e-4)


def test_the_8_bit_tables_are_torchs():
    for dtype in set(_TORCH) & COUNTED - {"BF16", "F16", "F32", "F64"}:
        codes = torch.arange(256, dtype=torch.uint8).view(_TORCH[dtype]).to(torch.float64)
        assert np.array_equal(narrow_values(dtype), codes.numpy(), equal_nan=True), dtype


# -- limits ----------------------------------------------------------------------


def test_progress_counts_bytes_and_a_time_limit_stops_the_pass(tmp_path):
    draft = plant_checkpoint(tmp_path, {"a.weight": blank("BF16", 2048, 1024)})
    seen = []
    bound = (BoundInput("draft", "checkpoint", Role.SUBJECT, draft),)
    run_probe(ProbeRun("tensor-health", bound, {}), lambda done, total: seen.append((done, total)))
    assert seen[-1] == (4 * 1024**2, 4 * 1024**2)
    late = run_probe(ProbeRun("tensor-health", bound, {}, None, 1e-9))
    assert {f.verdict for f in late.findings} == {Verdict.INVALID}
    assert "time limit" in late.findings[0].why


def test_an_interrupt_leaves_no_half_evidence(tmp_path):
    draft = plant_checkpoint(tmp_path, {"a.weight": blank("BF16", 2048, 1024)})

    def interrupt(done, total):
        raise KeyboardInterrupt

    bound = (BoundInput("draft", "checkpoint", Role.SUBJECT, draft),)
    with pytest.raises(KeyboardInterrupt):
        run_probe(ProbeRun("tensor-health", bound, {}), interrupt)


_MEASURE = """
import sys
from pathlib import Path
from hypotree.model.verdict import Role
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
run_probe(ProbeRun("tensor-health", (BoundInput("draft", "checkpoint", Role.SUBJECT, sys.argv[1]),), {}))
assert "torch" not in sys.modules
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def test_memory_stays_small_whatever_the_size(tmp_path):
    """512 MiB of sparse zeros in one tensor: under 64 MiB in all, torch not imported."""
    header = b'{"a.weight":{"dtype":"BF16","shape":[262144,1024],"data_offsets":[0,536870912]}}'
    path = tmp_path / "model.safetensors"
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + 536870912)
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64 * 1024
