"""Over all bundled probes: what may confirm, what may only suspect, and what is never accused."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.registry import all_probes
from hypotree.probe.runner import BoundInput, ProbeRun, run_here
from hypotree_probes import cases as table
from hypotree_probes.planting import blank, safetensors_bytes

LOADED, BROKEN = all_probes()
PRODUCERS = sorted((Path(__file__).parents[1] / "cases" / "producers").iterdir())
#: Codes that rest on a guess from the subject's own values; they authorise nothing, ever.
HEURISTIC = {
    "acceptance.declines", "acceptance.too-good", "tensor.integer-codes", "tensor.looks-untrained",
    "tensor.rows-misplaced",
}  # fmt: skip


def test_every_declared_probe_loads():
    assert BROKEN == {}


def test_every_code_has_a_case_or_is_known_to_be_a_guess():
    for name, probe in LOADED.items():
        shown = {case.fault for case in probe().cases()}
        for fault in probe.decides:
            assert fault.is_guess == (fault.code in HEURISTIC)
            assert fault.is_guess != (fault.code in shown), f"{name}: {fault.code}"


def test_a_guess_has_no_fix():
    for probe in LOADED.values():
        for fault in probe.decides:
            assert not (fault.code in HEURISTIC and fault.fix), fault.code


def test_a_guess_that_poses_as_a_truth_is_invalid(monkeypatch, tmp_path):
    probe = LOADED["tensor-health"]
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors_bytes({"a.weight": blank("F32", 2, 2)}))
    truth = Finding("tensor.integer-codes", Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, "sure")
    monkeypatch.setattr(probe, "run", lambda *_: [truth])
    bound = (BoundInput("draft", "checkpoint", Role.SUBJECT, str(path)),)
    evidence = run_here(ProbeRun("tensor-health", bound, {}))
    assert {f.verdict for f in evidence.findings} == {Verdict.INVALID}


@pytest.mark.parametrize("name", sorted(n for n, p in LOADED.items() if p().cases()))
def test_no_guess_is_ever_confirmed_by_truth(name, monkeypatch):
    """On the files of every case, planted or healthy: no such code reaches a source of truth."""
    probe = LOADED[name]
    monkeypatch.setattr(probe, "isolated", False)
    taken = {t.name: t for t in probe.takes}
    for case in probe().cases():
        for make in (case.plant, case.heal):
            with tempfile.TemporaryDirectory() as folder:
                given = make(Path(folder))
                bound = (BoundInput(n, taken[n].kind, taken[n].role, at) for n, at in given.items())
                evidence = run_here(ProbeRun(name, tuple(bound), case.params))
                for found in evidence.findings:
                    is_truth = found.authority is Authority.SOURCE_OF_TRUTH
                    assert not (
                        found.fault in HEURISTIC and is_truth and found.verdict is Verdict.CONFIRMED
                    )


@pytest.mark.parametrize("folder", PRODUCERS, ids=lambda f: f.name)
@pytest.mark.parametrize("name", sorted(LOADED))
def test_no_probe_accuses_what_a_producer_saved(name, folder):
    """With the draft alone: whatever a probe can say of it, it is no fault, and nothing is open."""
    probe = LOADED[name]
    needed = [t.name for t in probe.takes if t.is_required]
    if needed != ["draft"]:
        pytest.skip("needs more than a draft")
    evidence = run_here(
        ProbeRun(name, (BoundInput("draft", "checkpoint", probe.takes[0].role, str(folder)),), {})
    )
    assert {f.verdict for f in evidence.findings} <= {Verdict.REFUTED, Verdict.NOT_RUN}


def test_the_table_shows_each_case_and_its_report(capsys, monkeypatch):
    for name in ("d2t-format", "d2t-coverage"):
        monkeypatch.setattr(LOADED[name], "isolated", False)
    assert table.main(["d2t-format", "d2t-coverage"]) == 0
    text = capsys.readouterr().out
    assert "d2t.absolute-ids" in text and "verl-SpeCo#67" in text and "A10" in text
    assert "MISSED" not in text and "ACCUSED" not in text
