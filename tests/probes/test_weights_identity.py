"""weights-identity and hypotree diff: two sets of weights by content."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from probe_asking import ask, assert_case, case_params, stale_reads, verdict

from hypotree.artifact.casting import casts_to
from hypotree.artifact.tensor import TensorValue
from hypotree.artifact.weights import Weights
from hypotree.artifact.weights_diff import diff_weights
from hypotree.model.verdict import Verdict
from hypotree_probes.files.tensor_health_cases import bf16, plain_weight
from hypotree_probes.files.weights_cases import plant_pair, tensors
from hypotree_probes.files.weights_identity import DIFFER, WeightsIdentity
from hypotree_probes.planting import ids


@pytest.mark.parametrize("case", case_params(WeightsIdentity))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(WeightsIdentity, case)


def compare(tmp_path, draft):
    given = plant_pair(tmp_path, draft)
    return diff_weights(Weights(given["truth"]), Weights(given["draft"]))


def test_a_changed_tensor_tells_how_much_of_it_changed(tmp_path):
    changed = bytearray(plain_weight(4, 8).data)
    changed[0] ^= 1
    found = compare(
        tmp_path, {**tensors(), "fc.weight": TensorValue("BF16", (4, 8), bytes(changed))}
    )
    assert [(c.name, c.how, c.detail) for c in found.changed] == [
        ("fc.weight", "values", "1 of 4 rows differ")
    ]
    assert found.same == 1


def test_rows_in_another_order_are_told(tmp_path):
    value = plain_weight(4, 8)
    rows = [value.data[i : i + 16] for i in range(0, 64, 16)]
    swapped = TensorValue("BF16", (4, 8), rows[1] + rows[0] + rows[2] + rows[3])
    found = compare(tmp_path, {**tensors(), "fc.weight": swapped})
    assert (found.changed[0].how, found.changed[0].detail) == (
        "rows-permuted", "2 of 4 rows stand elsewhere"
    )  # fmt: skip


def test_another_dtype_of_the_same_values_is_told(tmp_path):
    wide = np.frombuffer(plain_weight(4, 8).data, "<u2").astype("<u4") << 16
    found = compare(
        tmp_path, {**tensors(), "fc.weight": TensorValue("F32", (4, 8), wide.tobytes())}
    )
    assert (found.changed[0].how, found.changed[0].detail) == ("same-up-to-dtype", "BF16 to F32")
    half = TensorValue("F16", (4, 8), bytes(64))
    (tmp_path / "b").mkdir()
    assert compare(tmp_path / "b", {**tensors(), "fc.weight": half}).changed[0].how == "dtype"


def test_another_shape_added_and_gone(tmp_path):
    found = compare(tmp_path, {"norm.weight": bf16([1.0] * 4, 4), "d2t": ids([0, 1])})
    assert (found.changed[0].how, found.added, found.gone) == ("shape", ("d2t",), ("fc.weight",))


def test_equal_tensors_under_new_names_are_paired_once(tmp_path):
    same = tensors()["norm.weight"]
    found = compare(
        tmp_path, {"fc.weight": tensors()["fc.weight"], "a.weight": same, "b.weight": same}
    )
    assert found.renamed == (("norm.weight", "a.weight"),)
    assert found.added == ("b.weight",) and found.gone == ()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_rounding_is_torchs(dtype):
    values = torch.randn(4096, generator=torch.Generator().manual_seed(1), dtype=torch.float32)
    values[:3] = torch.tensor([float("inf"), -0.0, 1e-40])
    names = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32"}
    narrow = values.to(dtype)
    stored = TensorValue(names[dtype], (4096,), narrow.view(torch.uint8).numpy().tobytes())
    assert casts_to(TensorValue("F32", (4096,), values.numpy().tobytes()), stored)


def test_evidence_is_stale_after_one_byte(tmp_path):
    evidence = ask(WeightsIdentity, plant_pair(tmp_path, tensors()))
    assert stale_reads(evidence) == []
    path = tmp_path / "draft" / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert stale_reads(evidence) == ["draft: tensor norm.weight"]


def run(*arguments):
    command = [sys.executable, "-m", "hypotree", "diff", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_command_has_honest_exit_codes_and_json(tmp_path):
    given = plant_pair(tmp_path, {**tensors(), "x\x1b[2J": ids([1])})
    same = run(given["draft"], given["draft"])
    assert (same.returncode, same.stdout) == (0, "nothing differs; 3 the same\n")
    other = run(given["truth"], given["draft"])
    assert other.returncode == 1 and "\x1b" not in other.stdout
    parsed = json.loads(run(given["truth"], given["draft"], "--json").stdout)
    assert parsed["added"] == ["x\x1b[2J"] and parsed["same"] == 2
    assert run(given["truth"], tmp_path / "nowhere").returncode == 2
    assert run(given["truth"]).returncode == 2


def test_a_manifest_stands_for_the_checkpoint(tmp_path):
    given = plant_pair(tmp_path, tensors())
    manifest = tmp_path / "before.json"
    manifest.write_text(run(given["truth"], "--manifest").stdout)
    assert run(manifest, given["draft"]).returncode == 0
    evidence = ask(WeightsIdentity, {"draft": given["draft"], "truth": str(manifest)})
    assert verdict(evidence, DIFFER) is Verdict.REFUTED and stale_reads(evidence) == []
    (tmp_path / "b").mkdir()
    changed = plant_pair(tmp_path / "b", {**tensors(), "norm.weight": bf16([2.0] * 8, 8)})
    assert run(manifest, changed["draft"]).returncode == 1


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": 1}', '{"schema": "x", "tensors": {"a": 1}}']
)
def test_a_file_that_is_no_manifest_is_unreadable(tmp_path, text):
    given = plant_pair(tmp_path, tensors())
    (tmp_path / "m.json").write_text(text)
    assert run(tmp_path / "m.json", given["draft"]).returncode == 2
