"""F and S: the faults of shared/cases/README.md, and the stacked ones."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
from cases import drafts as d
from cases.case import GUESS, TRUE, Case, Inputs, faulty, healthy, undecided

from hypotree_probes.planting import ids


def f01(folder: Path) -> Inputs:
    made = d.vocabulary(8, whole=32, d2t=None, marked=None)
    truth = d.map_file(folder, [0, 0, 1, 2, 4, 4, 14, 24])
    return Inputs(made.write(folder), {"vocab-map": truth})


def f03(whole: int, *, marked: bool):
    def make(folder: Path) -> Inputs:
        chosen = list(range(8)) if marked else None
        made = d.vocabulary(8, whole=whole, d2t=list(range(8)), marked=chosen)
        return Inputs(made.write(folder))

    return make


def f04_both(folder: Path) -> Inputs:
    made = d.vocabulary(8, whole=32, d2t=[0, 0, 1, 2, 4], marked=[0, 1, 3, 5, 8])
    return Inputs(made.write(folder))


def f04_mask(folder: Path) -> Inputs:
    made = d.vocabulary(8, whole=32, d2t=[0, 0, 1, 2, 4, 4, 4, 9], marked=[0, 1, 3, 5, 8])
    return Inputs(made.write(folder))


def f04_config(folder: Path) -> Inputs:
    """Head and map have 32 rows, the config was edited to 40."""
    made = d.draft()
    made.config["draft_vocab_size"] = 40
    return Inputs(made.write(folder))


def f05(folder: Path) -> Inputs:
    made = d.draft(t2d=False)
    made.tensors["d2t"] = ids([v - i for i, v in enumerate(d.OFFSETS)])
    return Inputs(made.write(folder), {"vocab-map": d.map_file(folder, d.OFFSETS)})


def f09(folder: Path) -> Inputs:
    made = d.draft().eagle(eagle_aux_hidden_state_layer_ids=[1, 2, 3, 4])
    return Inputs(made.write(folder), {"target": d.target(folder)})


def f10(folder: Path) -> Inputs:
    made = d.draft().eagle(use_aux_hidden_state=False)
    return Inputs(made.write(folder), {"engine": "sglang@0.5.12"})


def headless(engine: str, *, is_whole: bool = False):
    def make(folder: Path) -> Inputs:
        made = d.draft()
        del made.tensors["lm_head.weight"]
        if is_whole:
            made.config["draft_vocab_size"] = d.VOCABULARY
            del made.tensors["d2t"], made.tensors["t2d"]
        return Inputs(made.write(folder), {"engine": engine})

    return make


def producer(name: str, engine: str):
    def make(folder: Path) -> Inputs:
        return Inputs(str(d.produced(name, folder)), {"engine": engine})

    return make


def f14(folder: Path) -> Inputs:
    made = d.draft()
    codes = np.random.default_rng(0).integers(-8, 8, (d.H, 2 * d.H)).astype(np.float32)
    made.tensors["midlayer.self_attn.q_proj.weight"] = d.from_floats(codes)
    return Inputs(made.write(folder))


def f17(folder: Path) -> Inputs:
    made = d.draft()
    made.config["norm_before_residual"] = True
    return Inputs(made.write(folder), {"engine": "sglang@0.5.10"})


def f20(folder: Path) -> Inputs:
    made = d.draft()
    del made.config["rope_theta"]
    made.config["rope_parameters"] = {"rope_theta": 500000.0, "rope_type": "default"}
    return Inputs(made.write(folder), {"engine": "sglang@0.5.6"})


def f23(folder: Path) -> Inputs:
    made = d.draft()
    nan = np.full((d.DRAFT_VOCABULARY, d.H), np.nan, dtype=np.float32)
    made.tensors["lm_head.weight"] = d.from_floats(nan)
    return Inputs(made.write(folder))


def f27(folder: Path) -> Inputs:
    path = d.draft().write_sharded(folder)
    shard = Path(path, "model-00002-of-00002.safetensors")
    os.truncate(shard, shard.stat().st_size - 100)
    return Inputs(path)


def f28(folder: Path) -> Inputs:
    path = d.draft().write_sharded(folder)
    index = Path(path, "model.safetensors.index.json")
    document = json.loads(index.read_text())
    document["weight_map"]["fc.bias"] = "model-00003-of-00003.safetensors"
    index.write_text(json.dumps(document))
    return Inputs(path)


def f29(folder: Path) -> Inputs:
    path = d.draft().write(folder)
    good = folder / "good"
    good.mkdir()
    (good / "model.safetensors").hardlink_to(Path(path, "model.safetensors"))
    return Inputs(path, {"vocab-map": str(good / "model.safetensors")})


def s5(folder: Path) -> Inputs:
    from hypotree_probes.incident.make import make_incident

    make_incident(folder)
    return Inputs(str(folder / "output_10k" / "4"))


def incident_engine(folder: Path) -> Inputs:
    found = s5(folder)
    return Inputs(found.draft, {
        "engine": "sglang@0.5.9", "vocab-map": str(folder / "vocab_mapping" / "d2t.pt"),
        "target": str(folder / "target"), "log": str(folder / "server.log"),
        "trace": str(folder / "trace.jsonl"), "hidden-states": str(folder / "sample.pt"),
    })  # fmt: skip


def double_and_renamed(folder: Path) -> Inputs:
    made = d.draft("layers.0", t2d=False)
    made.tensors["d2t"] = ids([v - i for i, v in enumerate(d.OFFSETS)])
    truth = d.map_file(folder, d.OFFSETS)
    return Inputs(made.write(folder), {"vocab-map": truth, "engine": "sglang@0.5.10"})


def nan_and_unset(folder: Path) -> Inputs:
    made = d.draft(t2d=False)
    made.tensors["d2t"] = ids([0] * d.DRAFT_VOCABULARY)
    made.tensors["fc.weight"] = d.from_floats(np.full((d.H, 3 * d.H), np.inf, dtype=np.float32))
    return Inputs(made.write(folder), {"vocab-map": d.map_file(folder, d.OFFSETS)})


def copied_truth(folder: Path) -> Inputs:
    made = d.draft()
    made.tensors["d2t"] = ids(d.TARGETS)
    path = made.write(folder)
    copy = folder / "copy.safetensors"
    shutil.copyfile(Path(path, "model.safetensors"), copy)
    return Inputs(path, {"vocab-map": str(copy)})


_ABSOLUTE = "d2t.absolute-ids"
_UNCLEAR = {_ABSOLUTE: "inconclusive"}
_LLAMA, _QWEN = "speculators-0.9.0-llama", "speculators-0.9.0-qwen3"
#: Why fc is not fused, as far as the engine's own source is at hand to tell.
_UNFUSED = ("fusion.bypassed", "aux.delegation-missing")
_DROPS = ("params.dropped", "params.unwritten")

CASES = (
    faulty("F01", "the map lies in a side file only", f01, "d2t.missing",
           gate={"d2t.missing": "allowed"}, report="Automodel#2447"),
    faulty("F03", "arange under the offset convention, t2d beside it", f03(16, marked=True), _ABSOLUTE,
           may=("d2t.disagrees-with-t2d",), report="verl-SpeCo#67"),
    Case("F03b", "the same at vocabulary 12", f03(12, marked=True),
         {_ABSOLUTE: TRUE, "d2t.out-of-range": TRUE}, (_ABSOLUTE,), may=("d2t.disagrees-with-t2d",)),
    undecided("F03c", "the same at 16 with neither t2d nor map", f03(16, marked=False),
              verdicts=_UNCLEAR, says=("--vocab-map",)),
    faulty("F03d", "the same at 12 with neither", f03(12, marked=False), "d2t.out-of-range"),
    faulty("F04", "t2d and d2t shorter than draft_vocab_size", f04_both, "d2t.length-mismatch",
           may=("d2t.disagrees-with-t2d", "config.draft-vocab-mismatch"), roots=(), report="EAGLE#248"),
    faulty("F04b", "t2d alone is short", f04_mask, "d2t.disagrees-with-t2d",
           may=("d2t.length-mismatch",), roots=()),
    Case("F04c", "draft_vocab_size edited away from the tensors", f04_config,
         {"config.draft-vocab-mismatch": TRUE}, may=("d2t.length-mismatch",)),
    faulty("F05", "d2t rewritten by a hasty fix", f05, "d2t.double-subtracted",
           may=("d2t.out-of-range", "d2t.duplicate-targets"),
           gate={"d2t.double-subtracted": "allowed"}),
    faulty("F09", "four aux ids, fc three states wide", f09, "fusion.width-mismatch"),
    Case("F10", "capture switched off, the head needs it", f10,
         {"aux.capture-disabled": TRUE, "fusion.bypassed": TRUE}, ("aux.capture-disabled",)),
    faulty("F12", "no lm_head with draft_vocab_size set", headless("sglang@0.5.12"),
           "params.lm-head-missing", report="sglang#27829"),
    healthy("F12b", "no lm_head, whole vocabulary, vLLM", headless("vllm@0.33.0", is_whole=True),
            clean=("params.lm-head-missing",), verdict="not-faulty"),
    Case("F13", "decoder layer named for another release", producer(_LLAMA, "sglang@0.5.10"),
         {"params.renamed": TRUE}, ("params.renamed",), may=_DROPS,
         gate={"params.renamed": "allowed"}),
    healthy("F13b", "the same on the next release", producer(_LLAMA, "sglang@0.5.12"),
            clean=("params.renamed", *_DROPS)),
    faulty("F13c", "q_norm and k_norm, which no SGLang has", producer(_QWEN, "sglang@0.5.12"),
           "params.dropped"),
    Case("F13d", "both at once", producer(_QWEN, "sglang@0.5.10"),
         {"params.renamed": TRUE, "params.dropped": TRUE}, ("params.renamed", "params.dropped"),
         may=_DROPS),
    Case("F14", "integer codes stored as bf16", f14, {"tensor.integer-codes": GUESS},
         verdict="inconclusive"),
    faulty("F17", "norm_before_residual, and no such flag in the engine", f17,
           "config.norm-flag-ignored", may=("config.field-ignored",)),
    faulty("F20", "rope theta in the other schema", f20, "config.rope-mismatch"),
    faulty("F23", "the head is all NaN", f23, "tensor.nonfinite"),
    faulty("F27", "the last 100 bytes are cut", f27, "file.truncated", report="vmlx-swift#217"),
    faulty("F28", "the index names a third shard", f28, "file.index-missing-shard",
           may=("file.index-mismatch",)),
    faulty("F29", "the good copy is a hard link of the bad one", f29, "file.aliased"),
    Case("S5", "the founding incident, as it lies there", s5,
         {"params.renamed": TRUE, "fusion.bypassed": TRUE, "acceptance.at-floor": TRUE},
         ("params.renamed",), may=(*_DROPS, *_UNFUSED), clean=(_ABSOLUTE,),
         verdicts={_ABSOLUTE: "refuted"}, gate={_ABSOLUTE: "REFUTED", "params.renamed": "TRUTH_NOT_APPROVED"}),
    Case("S5b", "the founding incident, everything named", incident_engine,
         {"params.renamed": TRUE, "fusion.bypassed": TRUE, "acceptance.at-floor": TRUE},
         ("params.renamed",), may=(*_DROPS, *_UNFUSED), clean=(_ABSOLUTE,),
         gate={_ABSOLUTE: "REFUTED", "params.renamed": "allowed"}),
    Case("S6", "double-subtracted map and renamed keys", double_and_renamed,
         {"d2t.double-subtracted": TRUE, "params.renamed": TRUE},
         ("d2t.double-subtracted", "params.renamed"),
         may=(*_DROPS, "d2t.out-of-range", "d2t.duplicate-targets")),
    faulty("S7", "an infinite fc and a map that was never loaded", nan_and_unset,
           "d2t.never-loaded", "tensor.nonfinite"),
    Case("Q3", "the truth is a copy of the suspect", copied_truth, {_ABSOLUTE: TRUE}, (_ABSOLUTE,),
         gate={_ABSOLUTE: "TRUTH_NOT_INDEPENDENT"},
         may=("d2t.out-of-range", "d2t.disagrees-with-t2d", "d2t.duplicate-targets")),
)  # fmt: skip
