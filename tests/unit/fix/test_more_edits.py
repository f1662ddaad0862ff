"""Drop, cast, rename by prefix, JSON fields and text diffs, as staged views."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.errors import MisuseError
from hypotree.fix.catalog import FixRequest, edits_of
from hypotree.fix.plan import make_plan
from hypotree.fix.stage import stage
from hypotree.fix.staged_tree import StagedTree
from hypotree.model.declaration import FixChoice
from hypotree.model.edit import (
    CastTensor,
    DeleteField,
    DropTensor,
    Edit,
    PatchText,
    RenameTensors,
    SetField,
)

CONFIG = '{\n    "vocab_size": 64,\n    "eagle_config": {"use_aux_hidden_state": false}\n}\n'


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    folder = tmp_path / "draft"
    folder.mkdir()
    torch.manual_seed(0)
    tensors = {
        "layers.0.a.weight": torch.randn(3, 5, dtype=torch.bfloat16),
        "layers.0.b.weight": torch.randn(7, dtype=torch.float32),
        "lm_head.weight": torch.randn(4, 4, dtype=torch.bfloat16),
        "d2t": torch.arange(4),
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt", "b": "2", "a": "1"})
    (folder / "config.json").write_text(CONFIG)
    return folder


def staged(draft: Path, *edits: Edit) -> StagedTree:
    return stage(Checkpoint(str(draft)), edits, {})


def written(view: StagedTree, tmp_path: Path) -> Path:
    out = tmp_path / "new.safetensors"
    file = view.open("model.safetensors")
    out.write_bytes(file.read(0, file.size))
    return out


def test_a_dropped_tensor_is_gone_and_the_rest_is_as_it_was(draft: Path, tmp_path: Path) -> None:
    before = load_file(draft / "model.safetensors")
    after = load_file(written(staged(draft, DropTensor("layers.0.b.weight")), tmp_path))
    assert set(before) - set(after) == {"layers.0.b.weight"}
    assert all(torch.equal(before[name], after[name]) for name in after)


def test_a_cast_tensor_has_the_values_that_torch_gives_it(draft: Path, tmp_path: Path) -> None:
    before = load_file(draft / "model.safetensors")
    edit = CastTensor("layers.0.b.weight", "BF16")
    path = written(staged(draft, edit), tmp_path)
    after = load_file(path)
    assert torch.equal(after["layers.0.b.weight"], before["layers.0.b.weight"].to(torch.bfloat16))
    assert torch.equal(after["layers.0.a.weight"], before["layers.0.a.weight"])
    with safe_open(path, "pt") as file:
        assert file.metadata() == {"format": "pt", "b": "2", "a": "1"}


@pytest.mark.parametrize(
    ("tensor", "dtype"), [("d2t", "BOOL"), ("d2t", "F99"), ("layers.0.b.weight", "I8")]
)
def test_a_cast_that_would_lose_is_refused(draft: Path, tensor: str, dtype: str) -> None:
    with pytest.raises(MisuseError):
        staged(draft, CastTensor(tensor, dtype))


def test_names_are_changed_by_prefix(draft: Path) -> None:
    names = Checkpoint(str(draft)).names()
    request = FixRequest(
        FixChoice("rename-tensors", prefixes={"layers.0.": "midlayer."}), tensors=names
    )
    (edit,) = edits_of(request)
    assert edit == RenameTensors({
        "layers.0.a.weight": "midlayer.a.weight", "layers.0.b.weight": "midlayer.b.weight",
    })  # fmt: skip


def test_a_prefix_that_no_tensor_has_is_refused(draft: Path) -> None:
    request = FixRequest(FixChoice("rename-tensors", prefixes={"x.": "y."}), tensors=("a",))
    with pytest.raises(MisuseError, match="no tensor begins with"):
        edits_of(request)


def test_a_config_field_is_set_and_no_weight_is_read(draft: Path) -> None:
    view = staged(
        draft, SetField("config.json", ("eagle_config", "use_aux_hidden_state"), value=True)
    )
    assert set(view.staged) == {"config.json"}
    file = view.open("config.json")
    assert file.read(0, file.size).decode() == CONFIG.replace("false", "true")


def test_a_plan_shows_the_field_before_and_after(draft: Path) -> None:
    edits = (
        SetField("config.json", ("eagle_config", "use_aux_hidden_state"), value=True),
        DeleteField("config.json", ("vocab_size",)),
    )
    subject = Checkpoint(str(draft))
    plan = make_plan("H1", "set-config", "draft", subject, stage(subject, edits, {}), edits)
    shown = [(f.field, f.before, f.after) for f in plan.files[0].fields]
    assert shown == [
        ("vocab_size", "64", ""),
        ("eagle_config.use_aux_hidden_state", "false", "true"),
    ]


def test_weights_and_config_change_in_one_plan(draft: Path) -> None:
    edits = (
        DropTensor("layers.0.b.weight"),
        SetField("config.json", ("vocab_size",), 65),
    )
    subject = Checkpoint(str(draft))
    plan = make_plan("H1", "x", "draft", subject, stage(subject, edits, {}), edits)
    assert [file.name for file in plan.files] == ["config.json", "model.safetensors"]
    (change,) = plan.files[1].tensors
    assert (change.before, change.after) == ("layers.0.b.weight", "")


def test_a_text_of_an_engine_tree_is_patched_in_the_view_only(tmp_path: Path) -> None:
    models = tmp_path / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    (models / "kimi.py").write_text("class A:\n    def set_layers(self, ids):\n        pass\n")
    diff = (
        "--- a/kimi.py\n+++ b/kimi.py\n@@ -1,3 +1,3 @@\n class A:\n     def set_layers(self, ids):\n"
        "-        pass\n+        self.model.set_layers(ids)\n"
    )
    engine = Engine(f"sglang:{tmp_path / 'sglang'}")
    edit = PatchText("srt/models/kimi.py", diff)
    view = stage(engine, (edit,), {})
    plan = make_plan("H1", "patch-text", "engine", engine, view, (edit,))
    assert "+        self.model.set_layers(ids)" in plan.files[0].lines
    assert "pass" in (models / "kimi.py").read_text()


def test_tensors_of_what_is_no_checkpoint_cannot_be_changed(tmp_path: Path) -> None:
    (tmp_path / "version.py").write_text("__version__ = '0.5.9'\n")
    with pytest.raises(MisuseError, match="no checkpoint"):
        stage(Engine(f"sglang:{tmp_path}"), (DropTensor("x"),), {})


def test_an_index_loses_a_dropped_tensor_and_its_bytes(tmp_path: Path) -> None:
    for shard, name in (("model-00001-of-00002", "a"), ("model-00002-of-00002", "b")):
        save_file(
            {name: torch.zeros(4), f"{name}2": torch.zeros(2)}, tmp_path / f"{shard}.safetensors"
        )
    weight_map = {
        n: f"model-0000{1 + (n[0] == 'b')}-of-00002.safetensors" for n in ("a", "a2", "b", "b2")
    }
    index = {"metadata": {"total_size": 48, "extra": 1}, "weight_map": weight_map}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    view = stage(Checkpoint(str(tmp_path)), (DropTensor("b2"),), {})
    assert set(view.staged) == {"model-00002-of-00002.safetensors", "model.safetensors.index.json"}
    file = view.open("model.safetensors.index.json")
    new = json.loads(file.read(0, file.size))
    assert new["metadata"] == {"total_size": 40, "extra": 1}
    assert set(new["weight_map"]) == {"a", "a2", "b"}
