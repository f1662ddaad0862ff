"""A changed engine file changes the answer, and the evidence names that file's digest."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

from probes.engines.engine_kit import confirmed, files_read, probe, tiny_draft

from hypotree.artifact.engine import Engine
from hypotree.fix.segments import Fresh, SegmentedFile
from hypotree.fix.stage import StagedTree
from hypotree.model.evidence import Evidence
from hypotree.model.verdict import Role
from hypotree.probe.runner import BoundInput, ProbeRun, run_here
from hypotree_probes.engines.capture_cases import guarded_wrapper, plant_target
from hypotree_probes.engines.tiny import plant_engine
from hypotree_probes.engines.tiny.package import MODEL_FILE, WRAPPER_FILE

_TEST = "if hidden_states.shape[-1] != embeds.shape[-1]:"


def digest(spec: str, file: str) -> str:
    return hashlib.sha256((Path(spec.partition(":")[2]) / file).read_bytes()).hexdigest()


def fires(evidence: Evidence) -> dict[int, str]:
    table = next(t for t in evidence.tables if t.title == "Forward on the meta device")
    return {int(str(row[0])): str(row[2]) for row in table.rows}


def test_fc_applied_always_is_seen(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    draft, plain = tiny_draft(tmp_path), plant_engine(tmp_path)
    always = plant_engine(tmp_path / "b", {MODEL_FILE: (_TEST, "if True:")})
    before = probe("forward-trace", draft=draft, engine=plain)
    after = probe("forward-trace", draft=draft, engine=always)
    assert fires(before) == {24: "fires", 8: "does not fire"}
    # fc takes 24: on 8 it is called now, and stops the forward.
    stopped = next(t for t in after.tables if t.title == "Forward on the meta device").rows[1]
    assert str(stopped[-1]).startswith("RuntimeError")
    assert files_read(after)[MODEL_FILE] == digest(always, MODEL_FILE)
    assert files_read(after)[MODEL_FILE] != files_read(before)[MODEL_FILE]


def test_a_setter_that_is_added_clears_the_delegation(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    draft, target = tiny_draft(tmp_path), plant_target(tmp_path)
    silent = plant_engine(tmp_path, guarded_wrapper())
    fixed = plant_engine(tmp_path / "b")
    sick = probe("delegation", draft=draft, target=target, engine=silent)
    well = probe("delegation", draft=draft, target=target, engine=fixed)
    assert confirmed(sick) == {"aux.delegation-missing"}
    assert confirmed(well) == set()
    assert files_read(sick)[WRAPPER_FILE] == digest(silent, WRAPPER_FILE)
    assert files_read(well)[WRAPPER_FILE] == digest(fixed, WRAPPER_FILE)


def test_a_fork_that_names_the_layer_otherwise_is_believed(tmp_path: Path) -> None:
    name = f"layer{random.Random().randrange(10**6)}"
    spec = plant_engine(tmp_path, {MODEL_FILE: ("midlayer", name)})
    evidence = probe("param-coverage", draft=tiny_draft(tmp_path), engine=spec)
    found = evidence.finding("params.renamed")
    assert found is not None
    assert f"knows the decoder layer as {name}.*" in found.why
    assert files_read(evidence)[MODEL_FILE] == digest(spec, MODEL_FILE)


def test_a_staged_engine_file_is_what_is_run(tmp_path: Path) -> None:
    spec = plant_engine(tmp_path, guarded_wrapper())
    engine = Engine(spec)
    old = engine.tree.open(WRAPPER_FILE)
    source = old.read(0, old.size).decode()
    new = source.replace('"set_aux_layers"', '"set_eagle3_layers_to_capture"').replace(
        ".set_aux_layers(", ".set_eagle3_layers_to_capture("
    )
    staged = StagedTree(engine.tree, {WRAPPER_FILE: SegmentedFile(old, (Fresh(new.encode()),))})
    bound = (
        BoundInput("draft", "checkpoint", Role.SUBJECT, tiny_draft(tmp_path)),
        BoundInput("target", "checkpoint", Role.TRUTH, plant_target(tmp_path)),
        BoundInput("engine", "engine", Role.TRUTH, spec, tree=staged),
    )
    evidence = run_here(ProbeRun("delegation", bound, {}))
    assert confirmed(evidence) == set()
    assert files_read(evidence)[WRAPPER_FILE] == hashlib.sha256(new.encode()).hexdigest()


def test_the_evidence_holds_the_lines_that_ran(tmp_path: Path) -> None:
    evidence = probe("param-coverage", draft=tiny_draft(tmp_path), engine=plant_engine(tmp_path))
    table = next(t for t in evidence.tables if t.title == "Ran in the engine")
    functions = {str(row[1]) for row in table.rows}
    assert "LlamaForCausalLMEagle3.load_weights" in functions
