"""N and Q: healthy and looking sick; and what is no evidence at all."""

from __future__ import annotations

import json
from pathlib import Path

from cases import drafts as d
from cases.case import TRUE, Case, Inputs, healthy, undecided
from cases.faults import producer

from hypotree_probes.planting import ids


def n1(engine: str):
    def make(folder: Path) -> Inputs:
        made = d.vocabulary(128, whole=128, d2t=[0] * 128, marked=list(range(128)))
        return Inputs(made.write(folder), {"engine": engine} if engine else {})

    return make


def n2(folder: Path) -> Inputs:
    return Inputs(d.draft().write(folder), {"vocab-map": d.map_file(folder, d.OFFSETS)})


def n3(folder: Path) -> Inputs:
    """As ModelOpt calibrates: by frequency, so unsorted, with negative offsets and no t2d."""
    order = d.TARGETS[::-1]
    offsets = [target - draft for draft, target in enumerate(order)]
    made = d.draft("layers.0", t2d=False)
    made.tensors["d2t"] = ids(offsets)
    return Inputs(made.write(folder), {"vocab-map": d.map_file(folder, offsets)})


def n4(folder: Path) -> Inputs:
    return Inputs(d.draft().write(folder), {"engine": "sglang@0.5.10"})


def n5(folder: Path) -> Inputs:
    log = d.vllm_log(folder, [0.0, 0.0, 0.0], drafted=0)
    text = (
        Path(log).read_text().replace("Mean acceptance length: 1.00", "Mean acceptance length: nan")
    )
    Path(log).write_text(text.replace("rate: 0.0%", "rate: nan%"))
    return Inputs(d.draft().write(folder), {"log": log})


def n6(length: float, rate: float):
    def make(folder: Path) -> Inputs:
        log = d.sglang_log(folder, length, rate)
        return Inputs(d.draft().write(folder), {"log": log, "engine": "sglang@0.5.8"})

    return make


def sharded(folder: Path) -> Inputs:
    return Inputs(d.draft().write_sharded(folder), {"engine": "sglang@0.5.10"})


def hub_cache(folder: Path) -> Inputs:
    """A snapshot of links into blobs, named by its repository's folder."""
    made = Path(d.draft().write(folder, "plain"))
    repository = folder / "models--org--draft"
    snapshot = repository / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("a" * 40)
    for file in made.iterdir():
        blob = repository / "blobs" / f"{len(file.name):040d}"
        file.rename(blob)
        (snapshot / file.name).symlink_to(f"../../blobs/{blob.name}")
    made.rmdir()
    return Inputs(str(repository))


def no_fusion(folder: Path) -> Inputs:
    """nvidia's gpt-oss heads: use_aux_hidden_state false on purpose, the final state, no fc."""
    made = d.draft().eagle(use_aux_hidden_state=False)
    del made.tensors["fc.weight"], made.config["eagle_config"]["eagle_aux_hidden_state_layer_ids"]
    return Inputs(made.write(folder), {"target": d.target(folder)})


def four_states(folder: Path) -> Inputs:
    made = d.draft().eagle(eagle_aux_hidden_state_layer_ids=[1, 2, 3, 4])
    made.tensors["fc.weight"] = d.weight(d.H, 4 * d.H)
    return Inputs(made.write(folder), {"target": d.target(folder)})


def fused_trace(folder: Path) -> Inputs:
    given = {"trace": d.trace(folder, fused=True), "target": d.target(folder)}
    return Inputs(d.draft().write(folder), given)


def q1(folder: Path) -> Inputs:
    head = {"event": "trace_start", "engine": "sglang", "hooks": ["model.fc", "model.midlayer"]}
    dead = d.lines(folder, "trace.jsonl", json.dumps(head), '{"event":"trace_end","calls":0}')
    return Inputs(d.draft().write(folder), {"trace": dead})


def cut_trace(folder: Path) -> Inputs:
    """Killed in its middle: fc may well have come later."""
    whole = Path(d.trace(folder, fused=False)).read_text().splitlines()
    cut = d.lines(folder, "trace.jsonl", *whole[:1])
    return Inputs(d.draft().write(folder), {"trace": cut})


def q4(folder: Path) -> Inputs:
    """The stored baseline says 1.0097, and the log agrees with it."""
    (folder / "baseline.json").write_text('{"accept_length": 1.0097, "floor": 1.001}')
    log = d.sglang_log(folder, 1.01, 0.0)
    return Inputs(d.draft().write(folder), {"log": log})


def other_runs_map(folder: Path) -> Inputs:
    """Another run lies beside it, with a map and a log of its own: none of it is this drafter's."""
    other = folder / "other"
    d.draft().write(other, "checkpoint")
    d.map_file(other, d.OFFSETS[::-1])
    d.sglang_log(other, 1.0, 0.0)
    return Inputs(d.draft().write(folder / "mine"))


def log_of_another(folder: Path) -> Inputs:
    log = Path(d.sglang_log(folder, 1.0, 0.0))
    args = "server_args=ServerArgs(speculative_draft_model_path='/models/another-head')\n"
    log.write_text(args + log.read_text())
    return Inputs(d.draft().write(folder))


def whole_t2d(folder: Path) -> Inputs:
    """SpecForge always saves t2d and d2t, at the whole vocabulary too; on an SGLang."""
    return n1("sglang@0.5.14")(folder)


_ALL_D2T = ("d2t.absolute-ids", "d2t.never-loaded", "d2t.disagrees-with-t2d")
_PARAMS = ("params.renamed", "params.dropped", "params.unwritten", "params.lm-head-missing")

CASES = (
    healthy("N1", "d2t all zeros at the whole vocabulary, SGLang", n1("sglang@0.5.12"),
            clean=_ALL_D2T, report="EAGLE#222"),
    healthy("N1b", "the same, no engine", n1(""), clean=_ALL_D2T),
    healthy("N2", "leading zeros, repeated values", n2, clean=_ALL_D2T,
            verdicts={"d2t.absolute-ids": "refuted"}),
    healthy("N3", "ModelOpt's unsorted map", n3, clean=(*_ALL_D2T, "d2t.out-of-range")),
    healthy("N4", "no embed_tokens", n4, clean=_PARAMS),
    undecided("N5", "0 drafted tokens", n5, clean=("acceptance.at-floor",),
              verdicts={"acceptance.at-floor": "not-exercised"}, report="colibri#156",
              confirmed={"acceptance.not-exercised": TRUE}),
    healthy("N6", "accept rate 0.40 at accept len 1.60, D=4", n6(1.60, 0.40),
            clean=("acceptance.at-floor",)),
    Case("N6b", "accept len 1.00, whatever the rate", n6(1.00, 0.25), {"acceptance.at-floor": TRUE}),
    healthy("N7", "midlayer.* on SGLang 0.5.23", lambda f: Inputs(
        d.draft().write(f), {"engine": "sglang@0.5.23"}), clean=_PARAMS),
    healthy("N9", "sharded with its index", sharded, clean=("file.index-mismatch",)),
    healthy("N10", "a hub cache's snapshot of links", hub_cache, clean=("file.aliased",)),
    healthy("N11", "a head without fusion on purpose", no_fusion,
            clean=("fusion.width-mismatch", "aux.capture-disabled")),
    healthy("N12", "four states, fc four wide", four_states, clean=("fusion.width-mismatch",)),
    healthy("N13", "SpecForge's export on SGLang 0.5.10",
            producer("specforge-0.2.0-export", "sglang@0.5.10"), clean=_PARAMS),
    healthy("N14", "SpecForge's own save on SGLang 0.5.23",
            producer("specforge-0.2.0", "sglang@0.5.23"), clean=_PARAMS),
    healthy("N15", "speculators' llama on vLLM", producer("speculators-0.9.0-llama", "vllm@0.33.0"),
            clean=_PARAMS, verdict="not-faulty"),
    healthy("N16", "a trace in which fc fires", fused_trace,
            clean=("fusion.bypassed",), verdicts={"fusion.bypassed": "refuted"}),
    healthy("N17", "another run beside it, with map and log", other_runs_map,
            clean=("d2t.disagrees-with-source", "acceptance.at-floor")),
    healthy("N18", "a log that names another drafter", log_of_another,
            clean=("acceptance.at-floor",)),
    healthy("N19", "SpecForge's whole-vocabulary maps on SGLang", whole_t2d, clean=_ALL_D2T),
    undecided("Q1", "a trace whose hook never fired", q1, clean=("fusion.bypassed",),
              verdicts={"fusion.bypassed": "invalid"}, report="vllm#52107",
              may=("trace.hook-never-fired", "trace.dead", "trace.cut-off")),
    undecided("Q1b", "a trace that was cut off", cut_trace, clean=("fusion.bypassed",),
              may=("trace.hook-never-fired", "trace.dead", "trace.cut-off")),
    Case("Q4", "a stored baseline at the broken value", q4, {"acceptance.at-floor": TRUE},
         report="TensorRT-LLM#19036"),
)  # fmt: skip
