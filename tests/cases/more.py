"""X: more of facts/failures.md's classes; the letter in `report` is the class."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from cases import drafts as d
from cases.case import TRUE, Case, Inputs, faulty

from hypotree_probes.planting import ids, safetensors_bytes

_AT_FLOOR = "acceptance.at-floor"


def with_map(offsets: list[int], truth: list[int] | None = None):
    """A drafter whose map is `offsets` beside the map that training used."""

    def make(folder: Path) -> Inputs:
        made = d.draft(t2d=False)
        made.tensors["d2t"] = ids(offsets)
        return Inputs(made.write(folder), {"vocab-map": d.map_file(folder, truth or d.OFFSETS)})

    return make


def permuted() -> list[int]:
    """The same target ids in another order: well-formed, in range, unique, and wrong."""
    order = np.random.default_rng(1).permutation(d.TARGETS)
    return [int(target) - draft for draft, target in enumerate(order)]


def stale() -> list[int]:
    """Another run's choice of the same size."""
    other = [*range(10), *range(30, 45), *range(60, 67)]
    return [target - draft for draft, target in enumerate(other)]


def changed(change, engine: str = "", layer: str = "midlayer"):
    """A drafter with one change to its tensors or config."""

    def make(folder: Path) -> Inputs:
        made = d.draft(layer)
        change(made)
        return Inputs(made.write(folder), {"engine": engine} if engine else {})

    return make


def duplicate(made: d.Draft) -> None:
    offsets = list(d.OFFSETS)
    offsets[1] = -1
    made.tensors["d2t"] = ids(offsets)
    del made.tensors["t2d"]


def float_map(made: d.Draft) -> None:
    made.tensors["d2t"] = d.from_floats(np.array(d.OFFSETS, dtype=np.float32), "F32")


def negative(made: d.Draft) -> None:
    made.tensors["d2t"] = ids([-1, *d.OFFSETS[1:]])
    del made.tensors["t2d"]


def prefixed(made: d.Draft) -> None:
    made.tensors = {f"draft_model.{name}": value for name, value in made.tensors.items()}


def misshapen(made: d.Draft) -> None:
    made.config["intermediate_size"] = 2 * d.WIDE


def fuseless(made: d.Draft) -> None:
    del made.tensors["fc.weight"]


def biased(made: d.Draft) -> None:
    made.config["attention_bias"] = True
    for name, size in (("q", d.H), ("k", 16), ("v", 16), ("o", d.H)):
        made.tensors[f"midlayer.self_attn.{name}_proj.bias"] = d.weight(size, seed=9)


def infinite_norm(made: d.Draft) -> None:
    values = np.ones(d.H, dtype=np.float32)
    values[7] = np.inf
    made.tensors["norm.weight"] = d.from_floats(values)


def dead_projection(made: d.Draft) -> None:
    made.tensors["midlayer.self_attn.o_proj.weight"] = d.from_floats(
        np.zeros((d.H, d.H), np.float32)
    )


def wrong_shard(folder: Path) -> Inputs:
    path = d.draft().write_sharded(folder)
    index = Path(path, "model.safetensors.index.json")
    document = json.loads(index.read_text())
    held = document["weight_map"]
    held["fc.weight"] = next(file for file in held.values() if file != held["fc.weight"])
    index.write_text(json.dumps(document))
    return Inputs(path)


def long_header(folder: Path) -> Inputs:
    path = d.draft().write(folder)
    file = Path(path, "model.safetensors")
    data = bytearray(file.read_bytes())
    data[:8] = (len(data) * 4).to_bytes(8, "little")
    file.write_bytes(bytes(data))
    return Inputs(path)


def lfs_pointer(folder: Path) -> Inputs:
    path = d.draft().write(folder)
    Path(path, "model.safetensors").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 123456\n"
    )
    return Inputs(path)


def printed(width: int):
    def make(folder: Path) -> Inputs:
        line = f"[draft] hidden_states.shape=torch.Size([5, {width}])"
        return Inputs(d.draft().write(folder), {"log": d.lines(folder, "server.log", line)})

    return make


def narrow_sample(folder: Path) -> Inputs:
    path = folder / "handed.safetensors"
    path.write_bytes(safetensors_bytes({"hidden_states": d.weight(6, d.H, dtype="F32")}))
    return Inputs(d.draft().write(folder), {"hidden-states": str(path)})


def unfused_trace(folder: Path) -> Inputs:
    return Inputs(d.draft().write(folder), {"trace": d.trace(folder, fused=False)})


def collapse(folder: Path) -> Inputs:
    return Inputs(d.draft().write(folder), {"log": d.vllm_log(folder, [0.72, 0.04, 0.01])})


def trt_floor(folder: Path) -> Inputs:
    row = ('{"iter": %d, "specDecodingStats": {"numDraftTokens": 24, "numAcceptedTokens": 0, '
           '"numRequestsWithDraftTokens": 8, "acceptanceLength": 1.0}}')  # fmt: skip
    log = d.lines(folder, "stats.log", *(row % n for n in range(8)))
    return Inputs(d.draft().write(folder), {"log": log})


def hidden_from_another_target(folder: Path) -> Inputs:
    return Inputs(d.draft().write(folder), {"target": d.target(folder, hidden=48)})


def found_map(folder: Path) -> Inputs:
    """Nothing is named: the map is found in the run's own folder."""
    made = d.draft(t2d=False)
    made.tensors["d2t"] = ids([v - i for i, v in enumerate(d.OFFSETS)])
    d.map_file(folder, d.OFFSETS)
    return Inputs(made.write(folder / "output"))


def linked_shards(folder: Path) -> Inputs:
    path = Path(d.draft().write_sharded(folder))
    (path / "model-again.safetensors").hardlink_to(path / "model-00001-of-00002.safetensors")
    return Inputs(str(path))


def tied(made: d.Draft) -> None:
    made.config["tie_word_embeddings"] = True


_SHAPES = ("d2t.out-of-range", "d2t.duplicate-targets")

CASES = (
    faulty("X01", "a permuted map, well-formed and wrong", with_map(permuted()),
           "d2t.disagrees-with-source", gate={"d2t.disagrees-with-source": "allowed"}, report="A2"),
    faulty("X02", "another run's map of the same size", with_map(stale()),
           "d2t.disagrees-with-source", report="A8"),
    faulty("X03", "the map is the zero buffer", with_map([0] * 32), "d2t.never-loaded",
           gate={"d2t.never-loaded": "allowed"}, report="A9"),
    faulty("X04", "two draft ids lead to one target id", changed(duplicate), "d2t.duplicate-targets",
           report="A"),
    faulty("X05", "the map was cast to float", changed(float_map), "d2t.dtype", report="A"),
    faulty("X06", "a target id below zero", changed(negative), "d2t.out-of-range", report="A"),
    faulty("X07", "every key behind a prefix", changed(prefixed, "sglang@0.5.12"), "params.renamed",
           may=("params.dropped", "params.unwritten", "params.lm-head-missing"), report="C"),
    faulty("X08", "the MLP is not as wide as config.json says", changed(misshapen, "sglang@0.5.10"),
           "params.shape-mismatch", may=("config.tensor-mismatch",), roots=(), report="C"),
    faulty("X09", "fc is not in the file", changed(fuseless, "sglang@0.5.10"), "params.unwritten",
           report="C"),
    faulty("X10", "biases that SGLang has no parameters for", changed(biased, "sglang@0.5.10"),
           "params.dropped", report="C"),
    faulty("X11", "one infinite element of the last norm", changed(infinite_norm), "tensor.nonfinite",
           report="F"),
    faulty("X12", "o_proj is all zeros", changed(dead_projection), "tensor.all-zero", report="C"),
    faulty("X13", "the index puts a tensor into the wrong shard", wrong_shard, "file.index-mismatch",
           report="K"),
    faulty("X14", "a header longer than its file", long_header, "file.truncated", report="K",
           may=("file.bad-header",), roots=()),
    faulty("X15", "a Git-LFS pointer in place of the weights", lfs_pointer, "file.bad-header",
           may=("file.truncated",), roots=(), says=("LFS",), report="K"),
    faulty("X16", "the log prints states of one layer's width", printed(d.H), "fusion.bypassed",
           report="B"),
    faulty("X17", "the recorded states are one layer's", narrow_sample, "fusion.bypassed", report="B"),
    faulty("X18", "a trace in which fc never fires", unfused_trace, "fusion.bypassed", report="B"),
    Case("X19", "position 0 lives, later ones do not", collapse,
         {"acceptance.position-collapse": TRUE}, report="D6, H12"),
    Case("X20", "TensorRT-LLM's statistics at the floor", trt_floor, {_AT_FLOOR: TRUE}, report="J"),
    faulty("X21", "the target has another hidden size", hidden_from_another_target,
           "fusion.width-mismatch", may=("config.target-mismatch",), roots=(), report="B"),
    faulty("X22", "the map is found, not named", found_map, "d2t.double-subtracted",
           may=_SHAPES, gate={"d2t.double-subtracted": "TRUTH_NOT_APPROVED"}, report="A"),
    faulty("X23", "two shards are one file", linked_shards, "file.aliased",
           may=("file.index-mismatch", "file.bad-header"), roots=(), report="K7"),
    faulty("X24", "tied to the embeddings, with a head of its own", changed(tied),
           "config.head-tied-away", report="C"),
)  # fmt: skip
