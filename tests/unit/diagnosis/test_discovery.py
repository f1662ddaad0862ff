"""What lies around a drafter: found by content, near first, nothing of another run, all of it said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from cases import drafts as d

from hypotree.diagnosis.discovery import Found, discover, take_given
from hypotree.diagnosis.places import MAX_ENTRIES, Surroundings, in_hub_cache
from hypotree.diagnosis.playbook import load_playbook
from hypotree.diagnosis.recognise import recognise
from hypotree.diagnosis.sketch import sketch
from hypotree_probes.planting import ids, safetensors_bytes


def found_around(draft: Path, **given: str) -> Found:
    found = take_given(draft, given, "", load_playbook())
    discover(found, sketch(draft), Surroundings(draft))
    return found


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "experiment" / "run"
    folder.mkdir(parents=True)
    return folder


def test_everything_of_a_run_is_found_by_what_is_in_it(run: Path) -> None:
    draft = Path(d.draft().write(run / "output"))
    shutil.move(d.map_file(run, d.OFFSETS), run / "vocab_mapping" / "whatever.pt")
    shutil.move(d.sglang_log(run, 1.6, 0.2), run / "stdout.txt")
    d.trace(run, fused=True)
    d.target(run)
    path = run / "states.safetensors"
    path.write_bytes(safetensors_bytes({"hidden_states": d.weight(3, d.H)}))
    config = {"model": {"target_model_path": "x", "aux_hidden_state_layer_ids": [1, 3, 4]}}
    (run / "train.yml").write_text(yaml.safe_dump(config))
    found = found_around(draft)
    assert {n: Path(t.path).name for n, t in found.inputs.items() if n != "draft"} == {
        "truth": "whatever.pt", "log": "stdout.txt", "trace": "trace.jsonl", "target": "target",
        "sample": "states.safetensors", "train": "train.yml", "engine": "sglang@0.5.10",
    }  # fmt: skip
    assert {t.origin for n, t in found.inputs.items() if n != "draft"} == {"found"}


def test_a_flag_overrules(run: Path) -> None:
    draft = Path(d.draft().write(run))
    d.map_file(run, d.OFFSETS)
    found = found_around(draft, truth="/elsewhere/d2t.pt")
    assert found.inputs["truth"].path == "/elsewhere/d2t.pt"
    assert found.inputs["truth"].origin == "given"


def test_a_map_of_another_size_is_left_aside_and_said(run: Path) -> None:
    draft = Path(d.draft().write(run))
    d.map_file(run, [0, 0, 1])
    found = found_around(draft)
    assert "truth" not in found.inputs
    assert any("it has 3 ids, the draft 32" in note for note in found.notes)


def test_two_maps_that_differ_are_a_question(run: Path) -> None:
    draft = Path(d.draft().write(run))
    for name in ("one", "two"):
        d.map_file(run / name, d.OFFSETS if name == "one" else d.OFFSETS[::-1])
    found = found_around(draft)
    assert "truth" not in found.inputs
    assert any("several are as near" in note for note in found.notes)


def test_two_copies_of_one_map_are_none(run: Path) -> None:
    draft = Path(d.draft().write(run))
    for name in ("one", "two"):
        d.map_file(run / name, d.OFFSETS)
    assert "truth" in found_around(draft).inputs


def test_the_drafts_own_files_are_no_truth_for_it(run: Path) -> None:
    draft = Path(d.draft().write(run))
    (run / "again.safetensors").hardlink_to(draft / "model.safetensors")
    assert set(found_around(draft).inputs) == {"draft"}


def test_a_target_of_other_sizes_is_left_aside_and_said(run: Path) -> None:
    draft = Path(d.draft().write(run))
    d.target(run, hidden=48)
    found = found_around(draft)
    assert "target" not in found.inputs
    assert any("its hidden size is 48" in note for note in found.notes)


def test_a_target_that_the_config_names_is_found_in_the_hub_cache(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = d.draft()
    made.config["speculators_config"] = {"verifier": {"name_or_path": "org/model"}}
    draft = Path(made.write(run))
    snapshot = tmp_path / "hub" / "models--org--model" / "snapshots" / "abc"
    shutil.copytree(d.target(tmp_path / "t"), snapshot)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert found_around(draft).inputs["target"].path == str(snapshot)


def test_an_engine_in_a_venv_nearby_is_found_and_not_imported(run: Path) -> None:
    package = run / ".venv" / "lib" / "python3.12" / "site-packages" / "sglang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "version.py").write_text('__version__ = "0.5.9"\n')
    draft = Path(d.draft().write(run))
    assert found_around(draft).inputs["engine"].path == f"sglang:{package}"


def test_of_two_engines_none_is_taken_unless_a_log_tells(run: Path) -> None:
    site = run / "venv" / "lib" / "python3.12" / "site-packages"
    (run / "venv").mkdir()
    (run / "venv" / "pyvenv.cfg").touch()
    for name in ("sglang", "vllm"):
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").touch()
    draft = Path(d.draft().write(run))
    found = found_around(draft)
    assert "engine" not in found.inputs
    assert any("several are installed" in note for note in found.notes)
    d.vllm_log(run, [0.7, 0.5])
    assert found_around(draft).inputs["engine"].path == f"vllm:{site / 'vllm'}"


def test_another_runs_branch_is_not_entered(run: Path) -> None:
    other = run.parent / "other"
    d.draft().write(other, "checkpoint")
    d.map_file(other, d.OFFSETS)
    assert set(found_around(Path(d.draft().write(run))).inputs) == {"draft"}


def test_the_walk_is_bounded(run: Path) -> None:
    many = run / "many"
    many.mkdir()
    for number in range(MAX_ENTRIES + 100):
        (many / str(number)).touch()
    around = Surroundings(Path(d.draft().write(run)))
    assert len(around.files()) <= MAX_ENTRIES


def test_a_link_in_a_circle_ends(run: Path) -> None:
    (run / "loop").symlink_to(run)
    assert Surroundings(Path(d.draft().write(run))).files()


def test_a_hub_cache_is_its_main_revision(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / "snapshots" / name).mkdir(parents=True)
    (tmp_path / "refs").mkdir()
    (tmp_path / "refs" / "main").write_text("old")
    assert in_hub_cache(tmp_path).name == "old"
    (tmp_path / "refs" / "main").write_text("../../etc")
    assert in_hub_cache(tmp_path).parent.name == "snapshots"


@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"PK\3\4", b'{"a":', b"\x80\x04."])
@pytest.mark.parametrize("name", ["a.pt", "a.npy", "a.safetensors", "a.yaml", "a.json", "a.log"])
def test_what_is_nothing_of_ours_is_nothing(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert recognise(path) is None


def test_a_safetensors_map_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "map.safetensors"
    path.write_bytes(safetensors_bytes({"d2t": ids(d.OFFSETS)}))
    seen = recognise(path)
    assert seen is not None
    assert (seen.kind, seen.length) == ("vocabulary-map", 32)
