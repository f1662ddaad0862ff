"""W: what people give who do not know the tool yet."""

from __future__ import annotations

import json
from pathlib import Path

from cases import drafts as d
from cases.case import TRUE, Case, Inputs, refused, undecided

from hypotree_probes.planting import safetensors_bytes


def only_checkpoint(folder: Path) -> Inputs:
    """As ModelOpt leaves it: no t2d, and nothing beside it."""
    return Inputs(d.draft("layers.0", t2d=False).write(folder))


def checkpoint_and_log(folder: Path) -> Inputs:
    return Inputs(only_checkpoint(folder).draft, {"log": d.sglang_log(folder, 1.02, 0.01)})


def wrong_folder(folder: Path) -> Inputs:
    (folder / "notes").mkdir()
    (folder / "notes" / "readme.txt").write_text("nothing here")
    return Inputs(str(folder / "notes"))


def no_folder(folder: Path) -> Inputs:
    return Inputs(str(folder / "nowhere"))


def two_drafters(folder: Path) -> Inputs:
    for name in ("one", "two"):
        d.draft().write(folder / "runs" / name)
    return Inputs(str(folder / "runs"))


def folder_above(folder: Path) -> Inputs:
    d.draft().write(folder / "runs" / "1")
    return Inputs(str(folder / "runs"))


def whole_model(folder: Path) -> str:
    path = Path(d.target(folder))
    tensors = {"model.embed_tokens.weight": d.weight(d.VOCABULARY, d.H)}
    for layer in range(4):
        tensors[f"model.layers.{layer}.self_attn.q_proj.weight"] = d.weight(d.H, d.H, seed=layer)
    (path / "model.safetensors").write_bytes(safetensors_bytes(tensors))
    return str(path)


def target_as_draft(folder: Path) -> Inputs:
    d.draft().write(folder)
    return Inputs(whole_model(folder))


def other_heads(config: dict[str, object], *names: str):
    def make(folder: Path) -> Inputs:
        made = d.Draft({name: d.weight(d.H, d.H, seed=i) for i, name in enumerate(names)}, config)
        return Inputs(made.write(folder))

    return make


def picked(folder: Path) -> Inputs:
    """Pickled weights only."""
    path = folder / "draft"
    path.mkdir()
    (path / "pytorch_model.bin").write_bytes(b"PK\3\4")
    (path / "config.json").write_text(json.dumps(d.draft().config))
    return Inputs(str(path))


def missing_map(folder: Path) -> Inputs:
    return Inputs(d.draft().write(folder), {"vocab-map": str(folder / "no.pt")})


def bad_engine(folder: Path) -> Inputs:
    return Inputs(d.draft().write(folder), {"engine": "llama.cpp"})


_MEDUSA = other_heads(
    {"medusa_num_heads": 2, "medusa_num_layers": 1, "model_type": "medusa"},
    "medusa_head.0.0.linear.weight", "medusa_head.1.0.linear.weight",
)  # fmt: skip
_MTP = other_heads(
    {"architectures": ["DeepseekV3ForCausalLMNextN"], "hidden_size": d.H, "vocab_size": 128},
    "model.layers.61.eh_proj.weight", "model.layers.61.self_attn.q_proj.weight",
)  # fmt: skip
_EAGLE1 = other_heads({"architectures": ["LlamaForCausalLMEagle"], "hidden_size": d.H}, "fc.weight")

CASES = (
    Case("W1", "only a checkpoint", only_checkpoint, verdict="healthy", clean=("d2t.absolute-ids",),
         says=("--vocab-map", "not decided, and why")),
    Case("W2", "a checkpoint and a log at the floor", checkpoint_and_log,
         {"acceptance.at-floor": TRUE}, says=("nothing that was given shows the cause", "--engine")),
    refused("W3", "a folder without a checkpoint", wrong_folder, "no checkpoint"),
    refused("W3b", "a path to nothing", no_folder, "no such file or folder"),
    refused("W3c", "a folder with two drafters below", two_drafters, "2 drafters lie below"),
    Case("W3d", "a folder with one drafter below", folder_above, verdict="healthy",
         says=("the one drafter below is taken",)),
    refused("W4", "the target given as draft", target_as_draft, "a whole model, a target"),
    undecided("W5", "a set of Medusa heads", _MEDUSA, says=("a set of Medusa heads", "file.truncated")),
    undecided("W6", "an MTP head", _MTP, says=("multi-token-prediction", "file.truncated")),
    undecided("W7", "an EAGLE-1 head", _EAGLE1, says=("EAGLE-1", "file.truncated")),
    refused("W8", "pickled weights only", picked, "pickled weights only"),
    refused("W9", "a map that is not there", missing_map, "no such file or folder"),
    refused("W10", "an engine that we do not know", bad_engine, "as an engine"),
)  # fmt: skip
