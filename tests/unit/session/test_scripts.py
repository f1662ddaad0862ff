"""A repair script runs on a copy in a box; the gate decides what becomes of its difference."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypotree.model.refusal import Refusal
from hypotree.sandbox.landlock import abi_version
from hypotree.session import Session
from hypotree.session.fixing import Applied
from hypotree_probes.incident.d2t_map import incident_d2t
from hypotree_probes.planting import blank, ids, plant_checkpoint, safetensors_bytes

pytestmark = pytest.mark.skipif(
    not abi_version(), reason="this kernel has no Landlock to box a script"
)

OFFSETS = incident_d2t()[:2000]
TARGETS = [i + v for i, v in enumerate(OFFSETS)]
#: The incident's script, verbatim in spirit: load all, subtract arange, save all.
INCIDENT = """
import torch
from safetensors.torch import load_file, save_file
tensors = load_file("model.safetensors")
tensors["d2t"] = tensors["d2t"] - torch.arange(len(tensors["d2t"]))
save_file(tensors, "model.safetensors", metadata={"format": "pt"})
"""

EDIT_CONFIG = """
import json
config = json.load(open("config.json"))
config["vocab_size"] = 1
json.dump(config, open("config.json", "w"))
"""


def session_with(folder: Path, stored: list[int], script: str, **choice: Any) -> Session:
    tensors = {
        "fc.weight": blank("BF16", 8, 24),
        "lm_head.weight": blank("BF16", len(stored), 2),
        "d2t": ids(stored),
    }
    config = {"vocab_size": 163_840, "draft_vocab_size": len(stored), "hidden_size": 8}
    plant_checkpoint(folder, tensors, config)
    (folder / "truth.safetensors").write_bytes(safetensors_bytes({"d2t": ids(OFFSETS)}))
    fix = {
        "name": "script",
        "command": [sys.executable, "-c", script],
        "tensors": ["d2t"],
        **choice,
    }
    document = {
        "hypotree": 1,
        "symptom": "x",
        "artifacts": {
            "draft": {"path": "draft", "role": "subject"},
            "map": {"path": "truth.safetensors", "role": "truth"},
        },
        "hypotheses": {
            "H1": {
                "claim": "d2t holds absolute ids", "fault": "d2t.absolute-ids", "probe": "d2t-format",
                "inputs": {"draft": "draft", "truth": "map"}, "fix": fix,
            }
        },
        "policy": {"approve": "auto"},
    }  # fmt: skip
    (folder / "session.yaml").write_text(yaml.safe_dump(document))
    session = Session(folder)
    session.run("H1")
    return session


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "draft" / "model.safetensors").read_bytes()).hexdigest()


def test_the_incidents_script_on_a_correct_map_is_refused_and_nothing_is_touched(
    tmp_path: Path,
) -> None:
    session = session_with(tmp_path, OFFSETS, INCIDENT)
    before = digest(tmp_path)
    refused = session.apply("H1")
    assert isinstance(refused, Refusal)
    assert refused.code == "REFUTED"
    assert digest(tmp_path) == before


def test_the_incidents_script_on_a_really_absolute_map_changes_one_tensor(tmp_path: Path) -> None:
    session = session_with(tmp_path, TARGETS, INCIDENT)
    applied = session.apply("H1")
    assert isinstance(applied, Applied), applied
    assert applied.answer.plan is not None
    (file,) = applied.answer.plan.files
    assert [(c.before, c.after) for c in file.tensors] == [("d2t", "d2t")]
    assert session.run("H1").summary.startswith("d2t holds offsets")


def test_the_plan_of_a_script_is_the_same_each_time(tmp_path: Path) -> None:
    session = session_with(tmp_path, TARGETS, INCIDENT)
    plans = [session.plan("H1").plan for _ in range(2)]
    assert plans[0] is not None
    assert plans[1] is not None
    assert plans[0].digest() == plans[1].digest()


def test_what_a_script_changes_beyond_its_word_is_out_of_scope(tmp_path: Path) -> None:
    script = INCIDENT.replace("save_file(", "tensors['fc.weight'] += 1\nsave_file(")
    session = session_with(tmp_path, TARGETS, script)
    refused = session.apply("H1")
    assert isinstance(refused, Refusal)
    assert refused.code == "OUT_OF_SCOPE"
    assert "fc.weight" in refused.found


@pytest.mark.parametrize(
    ("script", "named"),
    [
        (EDIT_CONFIG, "vocab_size"),
        ("open('notes.txt', 'w').write('x')", "notes.txt"),
    ],
    ids=["a config field", "another file"],
)  # fmt: skip
def test_files_that_a_script_was_not_to_touch_are_out_of_scope(
    tmp_path: Path, script: str, named: str
) -> None:
    session = session_with(tmp_path, TARGETS, INCIDENT + script)
    refused = session.apply("H1")
    assert isinstance(refused, Refusal)
    assert refused.code == "OUT_OF_SCOPE"
    assert named in refused.found


def test_a_declared_field_may_change_together_with_the_tensor(tmp_path: Path) -> None:
    script = INCIDENT + (
        "import json\ntext = open('config.json').read()\n"
        "open('config.json', 'w').write(text.replace('163840', '163841'))\n"
    )
    session = session_with(tmp_path, TARGETS, script, fields=["vocab_size"])
    assert isinstance(session.apply("H1"), Applied)
    config = json.loads((tmp_path / "draft" / "config.json").read_text())
    assert config["vocab_size"] == 163_841
    session.undo()
    assert json.loads((tmp_path / "draft" / "config.json").read_text())["vocab_size"] == 163_840


def test_a_script_cannot_write_outside_its_copy(tmp_path: Path) -> None:
    target = tmp_path / "draft" / "model.safetensors"
    script = f"open({str(target)!r}, 'r+b').write(b'x' * 8)"
    session = session_with(tmp_path, TARGETS, script)
    before = digest(tmp_path)
    refused = session.apply("H1")
    assert isinstance(refused, Refusal)
    assert refused.code == "FIX_DOES_NOT_FLIP"
    assert "Permission denied" in refused.found
    assert digest(tmp_path) == before


def test_a_script_reaches_no_network(tmp_path: Path) -> None:
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        script = (
            f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        )
        refused = session_with(tmp_path, TARGETS, script).apply("H1")
    assert isinstance(refused, Refusal)
    assert "Permission" in refused.found or "PermissionError" in refused.found


def test_a_script_that_fails_says_why(tmp_path: Path) -> None:
    session = session_with(tmp_path, TARGETS, "raise SystemExit('no such tensor \\x1b[31m')")
    refused = session.apply("H1")
    assert isinstance(refused, Refusal)
    assert "no such tensor" in refused.found
    assert "\x1b" not in refused.found


def test_a_script_that_does_nothing_is_no_fix(tmp_path: Path) -> None:
    refused = session_with(tmp_path, TARGETS, "pass").apply("H1")
    assert isinstance(refused, Refusal)
    assert "would change nothing" in refused.found


def test_no_copy_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", None)
    session_with(tmp_path / "s", TARGETS, INCIDENT).apply("H1")
    assert [p.name for p in scratch.iterdir() if "script" in p.name] == []
    shutil.rmtree(scratch)
