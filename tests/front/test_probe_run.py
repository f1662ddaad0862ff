"""`hypotree probe run` for scripts and for tired people."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from front.command import hypotree, hypotree_json

from hypotree_probes.planting import blank, ids, plant_checkpoint

PRODUCERS = Path(__file__).parents[1] / "cases" / "producers"
LLAMA = PRODUCERS / "speculators-0.9.0-llama"


def test_the_json_has_the_shape_that_scripts_rely_on() -> None:
    code, value = hypotree_json("probe", "run", "d2t-format", "--draft", str(LLAMA))
    assert code == 0
    assert value["schema"] == "hypotree.evidence/1"
    assert value["probe"] == "d2t-format"
    assert len(value["code_sha256"]) == 64
    assert {"name", "role", "path", "sha256", "read"} <= set(value["inputs"][0])
    assert {"fault", "verdict", "authority", "why"} <= set(value["findings"][0])
    assert value["seconds"] > 0


def test_every_string_of_a_closed_vocabulary_is_lower_case_with_hyphens() -> None:
    _, value = hypotree_json("probe", "run", "d2t-format", "--draft", str(LLAMA))
    words = {f["verdict"] for f in value["findings"]} | {f["authority"] for f in value["findings"]}
    assert words <= {"refuted", "not-run", "source-of-truth", "heuristic", "none"}


def test_stdout_is_data_and_nothing_but() -> None:
    done = hypotree("probe", "run", "d2t-format", "--draft", str(LLAMA), "--json")
    assert json.loads(done.stdout)
    assert done.stderr == ""


def test_a_confirmed_fault_exits_with_one(tmp_path: Path) -> None:
    draft = plant_checkpoint(
        tmp_path, {"lm_head.weight": blank("BF16", 4, 2), "d2t": ids([0, 0, 0, 90])},
        {"vocab_size": 64, "draft_vocab_size": 4},
    )  # fmt: skip
    assert hypotree("probe", "run", "d2t-format", "--draft", draft).returncode == 1


def test_what_cannot_be_told_exits_with_three(tmp_path: Path) -> None:
    draft = plant_checkpoint(
        tmp_path, {"lm_head.weight": blank("BF16", 4, 2), "d2t": ids([0, 1, 2, 3])},
        {"vocab_size": 64, "draft_vocab_size": 4},
    )  # fmt: skip
    done = hypotree("probe", "run", "d2t-format", "--draft", draft)
    assert done.returncode == 3
    assert "CANNOT TELL: d2t.absolute-ids" in done.stdout
    assert "--vocab-map" in done.stdout


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("d2t-format",), "its input draft is missing"),
        (("no-such-probe", "--draft", str(LLAMA)), "no installed distribution declares it"),
        (("d2t-format", "--draft", "/no/such/folder"), "no such file or folder"),
        (("acceptance-log", "--draft", str(LLAMA)), "it takes no draft"),
        (("d2t-format", "--draft", str(LLAMA), "--truth", str(LLAMA / "config.json")), "none of"),
        (("d2t-format", "param-coverage", "--draft", str(LLAMA)), "2 names were given"),
    ],
)
def test_misuse_and_unreadable_inputs_exit_with_two(argv: tuple[str, ...], says: str) -> None:
    done = hypotree("probe", "run", *argv)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_hostile_pickle_is_an_unreadable_input_and_does_not_run(tmp_path: Path) -> None:
    import pickle

    marker = tmp_path / "ran"

    class Payload:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {marker}",)

    (tmp_path / "d2t.pt").write_bytes(pickle.dumps(Payload()))
    truth = str(tmp_path / "d2t.pt")
    done = hypotree("probe", "run", "d2t-format", "--draft", str(LLAMA), "--truth", truth)
    assert done.returncode == 2
    assert not marker.exists()
    assert "weights_only" not in done.stderr


def test_names_and_paths_cannot_paint_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[31mred\u202e"
    shutil.copytree(LLAMA, folder)
    done = hypotree("probe", "run", "d2t-format", "--draft", str(folder))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "\\x1b[31mred" in done.stdout


def test_the_form_of_a_truth_can_be_said(tmp_path: Path) -> None:
    draft = plant_checkpoint(
        tmp_path, {"lm_head.weight": blank("BF16", 4, 2), "d2t": ids([5, 1, 7, 4])},
        {"vocab_size": 12, "draft_vocab_size": 4},
    )  # fmt: skip
    np.save(tmp_path / "d2t.npy", np.array([5, 2, 9, 7]))
    argv = ("probe", "run", "d2t-format", "--draft", draft, "--truth", str(tmp_path / "d2t.npy"))
    assert hypotree(*argv).returncode == 3
    assert hypotree(*argv, "--truth-form", "absolute").returncode == 0


def test_nothing_is_written_by_a_probe(tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    shutil.copytree(LLAMA, draft)
    before = {
        p: (p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest())
        for p in draft.iterdir()
    }
    for probe in ("d2t-format", "file-integrity", "aux-width"):
        hypotree("probe", "run", probe, "--draft", str(draft), cwd=tmp_path)
    after = {
        p: (p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest())
        for p in draft.iterdir()
    }
    assert after == before
    assert {p.name for p in tmp_path.iterdir()} == {"draft"}


def test_probe_list_and_show_name_what_there_is() -> None:
    listed = hypotree("probe", "list").stdout
    shown = hypotree("probe", "show", "d2t-format").stdout
    assert "d2t-format" in listed
    assert "param-coverage" in listed
    assert "d2t.double-subtracted" in shown
    assert "vocabulary-map, truth, optional" in shown
