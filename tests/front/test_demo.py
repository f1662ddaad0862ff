"""`hypotree demo` plays the incident, and every step ends as it should."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from front.command import hypotree, hypotree_json

from hypotree_probes.incident.make import make_incident


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo") / "kept"
    done = hypotree("demo", "--keep", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_every_step_ends_as_it_should(played: tuple[Path, str]) -> None:
    assert re.search(r"all \d+ steps ended as they should", played[1])


def test_the_true_fix_is_written_and_the_symptom_has_not_moved(played: tuple[Path, str]) -> None:
    assert re.search(r"WRITTEN as S\d+; undo: hypotree undo --session \.", played[1])
    assert "H1 is fixed, symptom unmoved" in played[1]


def test_the_wrong_fix_is_refused_with_the_numbers(played: tuple[Path, str]) -> None:
    refusal = played[1].split("REFUSED REFUTED", 1)[1].split("(exit code", 1)[0]
    assert "32000 of 32000" in " ".join(refusal.split())
    assert "131608" in refusal


def test_the_damage_of_the_wrong_fix_is_named_and_repaired(played: tuple[Path, str]) -> None:
    assert "FAULT: d2t.double-subtracted" in played[1]
    assert "restore-tensor for H1" in played[1]


def test_the_real_cause_is_named(played: tuple[Path, str]) -> None:
    text = " ".join(played[1].split())
    assert "FAULT: fusion.bypassed" in text
    assert "took states 48 wide in draft_extend (line 4), fc wants 144" in text


def test_acceptance_is_computed_and_clearly_above_two_once_fused(played: tuple[Path, str]) -> None:
    lengths = [float(x) for x in re.findall(r"draft-replay  accept length (\d\.\d\d)", played[1])]
    assert lengths[0] < 1.1
    assert lengths[-1] > 2.5


def test_the_session_is_left_to_explore(played: tuple[Path, str]) -> None:
    code, view = hypotree_json("show", str(played[0]))
    assert code == 0
    standing = {node["id"]: node["standing"] for node in view["nodes"]}
    assert standing == {
        "H1": "fixed, symptom unmoved", "H2": "refuted", "H3": "confirmed", "H4": "confirmed",
    }  # fmt: skip
    assert view["journal_problem"] == ""


def test_an_unchanged_log_is_not_taken_for_a_measurement(played: tuple[Path, str]) -> None:
    _, view = hypotree_json("show", str(played[0]))
    log = [m["is_new"] for m in view["measurements"] if m["probe"] == "acceptance-log"]
    assert log == [True, False]


def test_the_report_tells_the_story(played: tuple[Path, str]) -> None:
    report = (played[0] / "report.md").read_text()
    for part in ("## Symptom", "## Tree", "fixed, symptom unmoved", "**REFUTED**", "## Writes"):
        assert part in report


def test_the_artifacts_are_the_same_bytes_each_time(tmp_path: Path, made_incident: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    make_incident(again)
    assert _digests(again) == _digests(made_incident)


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pt")
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    done = hypotree("demo", "--keep", str(tmp_path))
    assert done.returncode == 2
    assert "not empty" in done.stderr
