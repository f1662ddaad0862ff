"""draft-replay: acceptance of a recorded sample, and what would change it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from probe_asking import ask, assert_case, case_params, stale_reads, verdict

from hypotree.artifact.kinds import open_artifact
from hypotree.artifact.sample import Sample
from hypotree.model.verdict import Role, Verdict
from hypotree.probe import ProbeContext
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
from hypotree_probes.eagle3.draft_replay import DraftReplay
from hypotree_probes.eagle3.draft_replay_cases import DV, STEPS, plant_replay
from hypotree_probes.eagle3.served import Served, serve
from hypotree_probes.eagle3.what_if import teacher_forced, what_ifs
from hypotree_probes.incident.make import make_incident

FLOOR, COLLAPSE = "acceptance.at-floor", "acceptance.position-collapse"
ONE_MORE = [1] * DV


@pytest.mark.parametrize("case", case_params(DraftReplay))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(DraftReplay, case)


def served(given: dict[str, str], steps: int = STEPS) -> Served:
    """The path of these files, in this process."""
    kinds = {taken.name: taken.kind for taken in DraftReplay.takes}
    artifacts = {name: open_artifact(kinds[name], at) for name, at in given.items()}
    return serve(ProbeContext(artifacts, dict.fromkeys(given, Role.SUBJECT), {"start": 0}), steps)


def lengths(found: Served) -> dict[str, float | None]:
    return {w.change: w.acceptance and w.acceptance.accept_length for w in what_ifs(found)}


def test_a_drafter_that_wrote_its_sample_has_all_of_it_accepted(tmp_path):
    path = served(plant_replay(tmp_path)).path
    assert path.acceptance().per_position == (1.0,) * STEPS
    # Off the chains' starts the record goes on with a token that no draft id leads to.
    assert 0.2 <= teacher_forced(path)[0] < 1


def test_each_change_is_replayed_beside_the_served_path(tmp_path):
    found = lengths(served(plant_replay(tmp_path)))
    assert set(found) >= {
        "fc skipped, final state raw", "d2t as absolute ids", "no d2t", "norm_output on",
        "norm_before_residual on", "aux states in the order (2, 1, 0)",
    }  # fmt: skip
    assert "every tensor loaded" not in found and "d2t sorted by target id" not in found
    assert all(length < 5 for length in found.values())


def test_the_right_change_restores_acceptance(tmp_path):
    absolute = [2 * i for i in range(DV)]
    found = lengths(served(plant_replay(tmp_path, d2t=absolute)))
    assert found["d2t as absolute ids"] == max(found.values()) == 5.0


def test_a_sorted_map_is_tried_where_the_stored_one_is_not(tmp_path):
    found = lengths(served(plant_replay(tmp_path, d2t=[2 * (DV - 1 - i) - i for i in range(DV)])))
    assert found["d2t sorted by target id"] == 5.0


def test_states_of_other_layers_are_tried_where_the_sample_has_them(tmp_path):
    given = plant_replay(tmp_path)
    record = Sample(given["sample"]).record()
    right = torch.frombuffer(bytearray(record.aux.data), dtype=torch.float32)
    right = right.reshape(record.aux.shape)
    tokens = torch.tensor(record.tokens.integers())
    noise = torch.randn(right.shape, generator=torch.Generator().manual_seed(1))
    sample = {
        "input_ids": tokens[None],
        "aux_hidden_states": noise[None],
        "aux_hidden_states_plus1": right[None],
        "aux_hidden_states_minus1": noise[None],
    }
    torch.save(sample, tmp_path / "sample.pt")
    found = lengths(served({**given, "sample": str(tmp_path / "sample.pt")}))
    assert found["aux states of later layers (+1)"] == 5.0
    assert found["aux states of earlier layers (-1)"] < 5.0


def test_a_change_that_does_not_fit_says_why(tmp_path):
    given = plant_replay(tmp_path)
    record = Sample(given["sample"]).record()
    aux = torch.frombuffer(bytearray(record.aux.data), dtype=torch.float32)
    aux = aux.reshape(record.aux.shape)
    sample = {
        "input_ids": torch.tensor(record.tokens.integers()),
        "aux_hidden_states": aux,
        "aux_hidden_states_plus1": aux[:, :32],
    }
    torch.save(sample, tmp_path / "sample.pt")
    found = served({**given, "sample": str(tmp_path / "sample.pt")})
    tried = {w.change: w for w in what_ifs(found)}
    assert tried["aux states of later layers (+1)"].acceptance is None
    assert "shape" in tried["aux states of later layers (+1)"].why_not


def test_a_healthy_replay_tries_nothing_unless_asked(tmp_path):
    evidence = ask(DraftReplay, plant_replay(tmp_path))
    assert verdict(evidence, FLOOR) is Verdict.REFUTED
    assert evidence.tables == () and stale_reads(evidence) == []


def test_the_founding_incident_needs_both_repairs(tmp_path):
    make_incident(tmp_path)
    at = {
        "draft": "output_10k/4", "target": "target", "sample": "sample.pt", "trace": "trace.jsonl"
    }  # fmt: skip
    given = {name: str(Path(tmp_path, place)) for name, place in at.items()}
    given["engine"] = "sglang@0.5.9"
    taken = {t.name: t for t in DraftReplay.takes}
    bound = tuple(BoundInput(n, taken[n].kind, taken[n].role, at) for n, at in given.items())
    evidence = run_probe(ProbeRun("draft-replay", bound, {"what_if": 1, "start": 32}))
    assert verdict(evidence, FLOOR) is Verdict.CONFIRMED
    best = evidence.tables[0].rows[1]
    assert best[0] == "fused, and every tensor loaded" and best[1] > 3
    assert evidence.measures["best_change_accept_length"] > 3
