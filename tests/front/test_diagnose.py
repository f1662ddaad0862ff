"""`hypotree diagnose` for people, scripts, workflows and Python."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from cases import drafts as d
from cases.faults import f03, f05
from front.command import hypotree, hypotree_json

import hypotree as package
from hypotree.diagnosis import Diagnosis
from hypotree.model.wire import decode
from hypotree_probes.planting import ids

KEYS = {"id", "fault", "claim", "verdict", "authority", "probe", "why", "evidence", "fix"}
TOP = {"schema", "verdict", "hypotheses", "root_causes", "symptoms", "suspicions", "next"}


@pytest.fixture
def hurt(tmp_path: Path) -> tuple[str, str]:
    """A drafter with a double-subtracted map, and the map that training used."""
    folder = tmp_path / "case" / "run"
    folder.mkdir(parents=True)
    inputs = f05(folder)
    return inputs.draft, inputs.given["vocab-map"]


def test_the_json_is_the_designs(hurt: tuple[str, str]) -> None:
    code, found = hypotree_json("diagnose", hurt[0], "--vocab-map", hurt[1])
    assert code == 1
    assert found.keys() >= TOP
    assert found["schema"] == "hypotree.diagnosis/1"
    assert all(one.keys() >= KEYS for one in found["hypotheses"])
    assert found["root_causes"] == ["d2t.double-subtracted"]
    (cause,) = [one for one in found["hypotheses"] if one["fault"] == "d2t.double-subtracted"]
    assert cause["fix"] == {"name": "restore-tensor", "gate": "allowed", "code": None}
    assert cause["evidence"] in found["evidence"]
    words = [one[key] for one in found["hypotheses"] for key in ("verdict", "authority", "fault")]
    assert all(word == word.lower() and " " not in word for word in words)


def test_the_json_reads_back_as_what_it_is(hurt: tuple[str, str]) -> None:
    done = hypotree("diagnose", hurt[0], "--json")
    assert decode(done.stdout, Diagnosis, "a diagnosis").schema == "hypotree.diagnosis/1"


def test_the_json_keeps_to_the_schema_that_is_printed(hurt: tuple[str, str]) -> None:
    code, schema = hypotree_json_of("schema", "diagnosis")
    _, found = hypotree_json("diagnose", hurt[0])
    assert code == 0
    known = schema["$defs"]["Diagnosis"]["properties"]
    assert found.keys() == known.keys()
    assert set(schema["$defs"]["Diagnosed"]["required"]) >= KEYS


def hypotree_json_of(*argv: str) -> tuple[int, dict]:
    done = hypotree(*argv)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("what", ["diagnosis", "evidence", "session", "playbook"])
def test_every_schema_is_json_schema(what: str) -> None:
    code, schema = hypotree_json_of("schema", what)
    assert code == 0
    assert "$defs" in schema


def test_stdout_is_data_and_progress_is_talk(hurt: tuple[str, str]) -> None:
    done = hypotree("diagnose", hurt[0], "--json")
    assert json.loads(done.stdout)
    assert "d2t-format" in done.stderr


def test_people_read_tree_causes_refuted_unchecked_and_next(hurt: tuple[str, str]) -> None:
    said = hypotree("diagnose", hurt[0], "--vocab-map", hurt[1]).stdout
    order = ["an EAGLE-3 drafter", "d2t.double-subtracted  confirmed", "refuted, and by what",
             "not decided, and why", "\ncauses\n", "the gate would let it write",
             "FAULTY: d2t.double-subtracted", "next: keep this as a session"]  # fmt: skip
    places = [said.index(part) for part in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("policy", "faulty", "undecided"),
    [("undecided", 1, 3), ("fault", 1, 0), ("suspicion", 1, 3), ("never", 0, 0)],
)
def test_a_pipeline_says_what_fails_it(
    tmp_path: Path, hurt: tuple[str, str], policy: str, faulty: int, undecided: int
) -> None:
    argv = ("--fail-on", policy, "--only-given")
    assert hypotree("diagnose", hurt[0], "--vocab-map", hurt[1], *argv).returncode == faulty
    (tmp_path / "lone" / "run").mkdir(parents=True)
    lone = f03(16, marked=False)(tmp_path / "lone" / "run").draft
    assert hypotree("diagnose", lone, *argv).returncode == undecided


def test_annotations_are_escaped_and_say_where(tmp_path: Path) -> None:
    folder = tmp_path / "case" / "a,b:c%d\nrun"
    folder.mkdir(parents=True)
    made = d.draft(t2d=False)
    made.tensors["d2t"] = ids([-1, *d.OFFSETS[1:]])
    done = hypotree("diagnose", made.write(folder), "--format", "github")
    lines = done.stdout.splitlines()
    (error,) = [line for line in lines if line.startswith("::error ")]
    assert error.startswith("::error title=d2t.out-of-range confirmed,file=")
    assert "a%2Cb%3Ac%25d\\x0arun" in error
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    assert lines[-1].startswith("::notice title=hypotree diagnose::faulty")


def test_a_kept_diagnosis_is_a_session_with_the_same_tree(hurt: tuple[str, str]) -> None:
    folder = Path(hurt[0]).parent / "kept"
    argv = ("diagnose", hurt[0], "--vocab-map", hurt[1], "--session", str(folder))
    code, found = hypotree_json(*argv)
    assert code == 1
    _, view = hypotree_json("show", str(folder))
    standing = {node["id"]: node["standing"] for node in view["nodes"]}
    for one in found["hypotheses"]:
        if one["id"] in standing and one["authority"] == "source-of-truth":
            assert standing[one["id"]] == one["verdict"]
    assert view["journal_problem"] == ""
    assert found["next"].startswith("plan the fix of d2t.double-subtracted: hypotree fix plan")
    command = found["next"].partition("hypotree ")[2].split()
    assert hypotree(*command).returncode in {0, 4}
    assert hypotree(*argv).returncode == 2


def test_what_is_found_is_only_proposed_and_opens_no_gate(hurt: tuple[str, str]) -> None:
    folder = Path(hurt[0]).parent / "kept"
    _, found = hypotree_json("diagnose", hurt[0], "--session", str(folder))
    (cause,) = [one for one in found["hypotheses"] if one["fault"] == "d2t.double-subtracted"]
    assert (cause["verdict"], cause["fix"]["code"]) == ("confirmed", "TRUTH_NOT_APPROVED")
    _, view = hypotree_json("show", str(folder))
    (truth,) = [one for one in view["artifacts"] if one["name"] == "truth"]
    assert truth["proposed_by"] == "agent"
    before = Path(hurt[0], "model.safetensors").read_bytes()
    done = hypotree("fix", "apply", "--session", str(folder), cause["id"], "--yes")
    assert done.returncode == 4
    assert "TRUTH_NOT_APPROVED" in done.stdout + done.stderr
    assert Path(hurt[0], "model.safetensors").read_bytes() == before


def test_an_agents_session_has_no_token_and_only_proposals(hurt: tuple[str, str]) -> None:
    folder = Path(hurt[0]).parent / "kept"
    argv = ("diagnose", hurt[0], "--vocab-map", hurt[1], "--session", str(folder))
    done = hypotree(*argv, HYPOTREE_ACTOR="agent:codex")
    assert "token" not in done.stderr
    _, view = hypotree_json("show", str(folder))
    assert all(one["proposed_by"] for one in view["artifacts"])


def test_nothing_is_written_by_a_diagnosis(hurt: tuple[str, str], tmp_path: Path) -> None:
    def state() -> dict[Path, tuple[int, str]]:
        files = [p for p in tmp_path.rglob("*") if p.is_file()]
        return {
            p: (p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest()) for p in files
        }

    before = state()
    hypotree("diagnose", hurt[0], "--vocab-map", hurt[1], cwd=tmp_path)
    assert state() == before


def test_a_playbook_of_ones_own_decides_what_is_asked(
    hurt: tuple[str, str], tmp_path: Path
) -> None:
    book = tmp_path / "mine.yaml"
    book.write_text(
        "playbook: 1\ntitle: my drafters\nhealthy_needs: [d2t-format]\n"
        "inputs: {truth: {flag: --vocab-map, what: the map}}\n"
        "subjects: [{what: my drafter, is_fit: true, fields: [draft_vocab_size]}]\n"
        "probes: [{probe: d2t-format}]\nsymptoms: []\n"
        "hypotheses: [{fault: d2t.double-subtracted, claim: somebody subtracted twice}]\n"
    )
    argv = ("--vocab-map", hurt[1], "--playbook", str(book))
    _, found = hypotree_json("diagnose", hurt[0], *argv)
    assert found["hypotheses"][0]["claim"] == "somebody subtracted twice"
    assert found["subject"] == "my drafter"


def test_python_asks_the_same(hurt: tuple[str, str]) -> None:
    found = package.diagnose(hurt[0], vocab_map=hurt[1], look_around=False)
    assert found.verdict == "faulty"
    assert found.root_causes == ("d2t.double-subtracted",)
    cause = found.hypothesis("d2t.double-subtracted")
    assert cause is not None
    assert cause.locators[0].tensor == "d2t"
    assert msgspec.json.encode(found.next)


def test_the_name_is_there_and_costs_nothing_before_it_is_asked() -> None:
    code = (
        "import sys, hypotree\n"
        "print(len([m for m in sys.modules if m.startswith('hypotree.')]), 'typing' in sys.modules)\n"
        "from hypotree import diagnose\nprint(callable(diagnose))\n"
        "try:\n    hypotree.nothing\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                          env={"PYTHONPATH": ":".join(sys.path)}, check=True)  # fmt: skip
    first, second, third = done.stdout.splitlines()
    assert first == "0 False"
    assert second == "True"
    assert "nothing" in third


def test_a_diagnosis_without_faults_never_opens_the_session_layer(tmp_path: Path) -> None:
    draft = d.draft().write(tmp_path / "case" / "run")
    code = (
        "import sys, hypotree\n"
        f"hypotree.diagnose({draft!r}, look_around=False)\n"
        "print(sorted({'torch', 'networkx', 'click'} & set(sys.modules)))\n"
        "print('hypotree.session' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "False"]
