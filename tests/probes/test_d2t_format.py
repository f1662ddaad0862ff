"""d2t-format on the incident's three situations, on real producers, and on every planted fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypotree.artifact.tensor import TensorValue
from hypotree.model.evidence import Evidence
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.registry import probe_class
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
from hypotree.testing import check_probe
from hypotree_probes.incident.d2t_map import incident_d2t
from hypotree_probes.planting import blank, ids, mask, plant_checkpoint, safetensors_bytes

PRODUCERS = Path(__file__).parents[1] / "cases" / "producers"
OFFSETS = incident_d2t()
TARGETS = [i + v for i, v in enumerate(OFFSETS)]
INCIDENT = {"vocab_size": 163_840, "draft_vocab_size": 32_000, "hidden_size": 8}


def ask(draft: str, truth: Path | None = None, form: str = "") -> Evidence:
    taken = {t.name: t for t in probe_class("d2t-format").takes}
    inputs = [BoundInput("draft", "checkpoint", taken["draft"].role, draft)]
    if truth is not None:
        role = taken["truth"].role
        inputs.append(BoundInput("truth", "vocabulary-map", role, str(truth), form))
    return run_probe(ProbeRun("d2t-format", tuple(inputs), {}))


def draft(
    folder: Path,
    values: list[int] | TensorValue | None,
    *,
    vocabulary: int = 64,
    size: int | None = None,
    t2d: list[int] | None = None,
    rows: int | None = None,
) -> str:
    count = len(values) if isinstance(values, list) else (values.shape[0] if values else 8)
    tensors = {"lm_head.weight": blank("BF16", rows if rows is not None else count, 4)}
    if values is not None:
        tensors["d2t"] = ids(values) if isinstance(values, list) else values
    if t2d is not None:
        tensors["t2d"] = mask(t2d, vocabulary)
    config = {"vocab_size": vocabulary, "draft_vocab_size": size or count, "hidden_size": 4}
    return plant_checkpoint(folder, tensors, config)


def truth_file(folder: Path, offsets: list[int]) -> Path:
    path = folder / "d2t.npy"
    np.save(path, np.array(offsets, dtype=np.int64))
    return path


def verdicts(evidence: Evidence) -> dict[str, str]:
    return {f.fault.removeprefix("d2t."): str(f.verdict) for f in evidence.findings}


def confirmed(evidence: Evidence) -> set[str]:
    return {
        f.fault
        for f in evidence.findings
        if f.verdict is Verdict.CONFIRMED and f.authority is Authority.SOURCE_OF_TRUTH
    }


def nothing_is_wrong_or_open(evidence: Evidence) -> bool:
    return all(f.verdict in {Verdict.REFUTED, Verdict.NOT_RUN} for f in evidence.findings)


def test_every_planted_fault_is_confirmed_and_every_twin_cleared() -> None:
    check_probe(probe_class("d2t-format"))


def test_every_code_that_the_probe_decides_has_a_planted_case() -> None:
    probe = probe_class("d2t-format")
    assert {c.fault for c in probe().cases()} == {f.code for f in probe.decides}


# -- the incident, with the real-size map ------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected", "words"),
    [
        (OFFSETS, set(), "holds offsets: all 32000"),
        (
            [v - i for i, v in enumerate(OFFSETS)],
            {"d2t.double-subtracted", "d2t.duplicate-targets"},
            "double-subtracted",
        ),
        (TARGETS, {"d2t.absolute-ids", "d2t.out-of-range"}, "absolute ids"),
    ],
    ids=["correct", "after the wrong fix", "really absolute"],
)
def test_the_incidents_map_is_called_what_it_is(
    tmp_path: Path, values: list[int], expected: set[str], words: str
) -> None:
    tensors = {"lm_head.weight": blank("BF16", 32_000, 1), "d2t": ids(values)}
    path = plant_checkpoint(tmp_path, tensors, INCIDENT)
    evidence = ask(path, truth_file(tmp_path, OFFSETS))
    assert confirmed(evidence) == expected
    assert words in evidence.summary


def test_the_refutation_of_absolute_ids_gives_the_numbers(tmp_path: Path) -> None:
    tensors = {"lm_head.weight": blank("BF16", 32_000, 1), "d2t": ids(OFFSETS)}
    path = plant_checkpoint(tmp_path, tensors, INCIDENT)
    found = ask(path, truth_file(tmp_path, OFFSETS)).finding("d2t.absolute-ids")
    assert found is not None
    assert found.verdict is Verdict.REFUTED
    assert found.authority is Authority.SOURCE_OF_TRUTH
    assert "32000 of 32000, and 11046 of them repeat an earlier one" in found.why
    assert "draft id 31999 stores 131608 and goes to 163607" in found.why


def test_the_rows_show_draft_id_stored_target_and_truth(tmp_path: Path) -> None:
    tensors = {"lm_head.weight": blank("BF16", 32_000, 1), "d2t": ids(OFFSETS)}
    path = plant_checkpoint(tmp_path, tensors, INCIDENT)
    (table,) = ask(path, truth_file(tmp_path, OFFSETS)).tables
    assert table.columns == ("draft id", "stored", "target", "truth")
    assert (31_999, 131_608, 163_607, 163_607) in table.rows
    assert len(table.rows) <= 12


# -- what real libraries saved ------------------------------------------------------------


@pytest.mark.parametrize("producer", sorted(p.name for p in PRODUCERS.iterdir()))
def test_a_checkpoint_saved_by_a_real_library_is_healthy(producer: str) -> None:
    evidence = ask(str(PRODUCERS / producer))
    assert nothing_is_wrong_or_open(evidence)
    assert "d2t holds offsets: all 32" in evidence.summary


def test_a_real_checkpoints_truth_may_be_another_checkpoint(tmp_path: Path) -> None:
    other = PRODUCERS / "specforge-0.2.0"
    evidence = ask(str(PRODUCERS / "specforge-0.2.0-export"), other)
    assert nothing_is_wrong_or_open(evidence)


# -- maps as ModelOpt makes them: by frequency, unsorted, no t2d --------------------------

#: Targets 5, 2, 9, 7 (facts/eagle3.md section 1, run with ModelOpt's calibrate_frequent_vocab).
MODELOPT = [5, 1, 7, 4]


def test_an_unsorted_map_without_t2d_is_not_accused(tmp_path: Path) -> None:
    evidence = ask(draft(tmp_path, MODELOPT, vocabulary=12))
    assert not confirmed(evidence)
    assert verdicts(evidence)["absolute-ids"] == "inconclusive"
    assert verdicts(evidence)["double-subtracted"] == "not-run"


def test_an_unsorted_map_with_negative_offsets_cannot_hold_ids(tmp_path: Path) -> None:
    evidence = ask(draft(tmp_path, [9, 4, -1, -3], vocabulary=12))
    assert nothing_is_wrong_or_open(evidence)


def test_an_unsorted_map_is_settled_by_its_source(tmp_path: Path) -> None:
    truth = truth_file(tmp_path, MODELOPT)
    evidence = ask(draft(tmp_path, MODELOPT, vocabulary=12), truth, "offsets")
    assert nothing_is_wrong_or_open(evidence)


def test_a_truth_of_unclear_form_is_not_guessed(tmp_path: Path) -> None:
    evidence = ask(draft(tmp_path, MODELOPT, vocabulary=12), truth_file(tmp_path, MODELOPT))
    assert not confirmed(evidence)
    found = evidence.finding("d2t.disagrees-with-source")
    assert found is not None
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "--truth-form" in found.why


# -- all zeros -----------------------------------------------------------------------------


def test_all_zeros_over_the_full_vocabulary_are_healthy(tmp_path: Path) -> None:
    """Case N1 [EAGLE#222]."""
    path = draft(tmp_path, [0] * 16, vocabulary=16, t2d=list(range(16)))
    assert nothing_is_wrong_or_open(ask(path))


def test_all_zeros_over_a_reduced_vocabulary_were_never_loaded(tmp_path: Path) -> None:
    truth = truth_file(tmp_path, [0, 0, 3, 6, 16, 16, 34, 56])
    evidence = ask(draft(tmp_path, [0] * 8), truth)
    assert confirmed(evidence) == {"d2t.never-loaded"}


def test_all_zeros_over_a_reduced_vocabulary_are_only_suspected_without_the_map(
    tmp_path: Path,
) -> None:
    found = ask(draft(tmp_path, [0] * 8)).finding("d2t.never-loaded")
    assert found is not None
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, Authority.HEURISTIC)


def test_all_zeros_are_right_where_t2d_marks_the_first_ids(tmp_path: Path) -> None:
    path = draft(tmp_path, [0] * 8, vocabulary=16, t2d=list(range(8)))
    assert nothing_is_wrong_or_open(ask(path))


# -- shared/cases ---------------------------------------------------------------------------


def test_f01_a_map_kept_only_in_a_side_file_is_missing(tmp_path: Path) -> None:
    truth = truth_file(tmp_path, [0, 2, 3, 3, 5, 9, 12, 20])
    evidence = ask(draft(tmp_path, None, vocabulary=32, size=8), truth)
    assert confirmed(evidence) == {"d2t.missing"}
    found = evidence.finding("d2t.missing")
    assert found is not None
    assert found.remedy


@pytest.mark.parametrize(
    ("vocabulary", "t2d", "expected", "absolute"),
    [
        (16, True, {"d2t.absolute-ids", "d2t.disagrees-with-t2d"}, "confirmed"),
        (12, True, {"d2t.absolute-ids", "d2t.disagrees-with-t2d", "d2t.out-of-range"}, "confirmed"),
        (16, False, set(), "inconclusive"),
        (12, False, {"d2t.out-of-range"}, "inconclusive"),
    ],
)
def test_f03_arange_under_the_offset_convention(
    tmp_path: Path, vocabulary: int, *, t2d: bool, expected: set[str], absolute: str
) -> None:
    marked = list(range(8)) if t2d else None
    evidence = ask(draft(tmp_path, list(range(8)), vocabulary=vocabulary, t2d=marked))
    assert confirmed(evidence) == expected
    assert verdicts(evidence)["absolute-ids"] == absolute


def test_f04_a_short_map_is_a_length_mismatch_though_the_config_was_edited(tmp_path: Path) -> None:
    marked = [0, 3, 5, 6, 9]
    values = [t - i for i, t in enumerate(marked)]
    path = draft(tmp_path, values, vocabulary=32, size=5, rows=8, t2d=marked)
    assert confirmed(ask(path)) == {"d2t.length-mismatch"}


def test_f04_a_short_t2d_alone_disagrees(tmp_path: Path) -> None:
    values = [0, 2, 3, 3, 5, 9, 12, 20]
    path = draft(tmp_path, values, vocabulary=32, t2d=[0, 3, 5, 6, 9])
    assert confirmed(ask(path)) == {"d2t.disagrees-with-t2d"}


def test_n2_leading_zeros_and_repeats_are_offsets(tmp_path: Path) -> None:
    assert nothing_is_wrong_or_open(ask(draft(tmp_path, [0, 0, 0, 0, 2, 2, 5, 5])))


# -- dtype, length, range, duplicates -------------------------------------------------------


def test_a_map_of_floats_is_no_map(tmp_path: Path) -> None:
    evidence = ask(draft(tmp_path, blank("F32", 8)))
    assert confirmed(evidence) == {"d2t.dtype"}
    assert verdicts(evidence)["out-of-range"] == "not-run"


def test_int32_is_a_fine_dtype(tmp_path: Path) -> None:
    value = TensorValue.of_integers("I32", (8,), [0, 0, 0, 0, 2, 2, 5, 5])
    assert nothing_is_wrong_or_open(ask(draft(tmp_path, value)))


def test_a_target_id_below_zero_is_out_of_range(tmp_path: Path) -> None:
    assert "d2t.out-of-range" in confirmed(ask(draft(tmp_path, [0, -2, 0, 0, 2, 2, 5, 5])))


def test_two_draft_ids_on_one_target_are_duplicates(tmp_path: Path) -> None:
    evidence = ask(draft(tmp_path, [0, 0, 0, -1, 2, 2, 5, 5]))
    assert confirmed(evidence) == {"d2t.duplicate-targets"}
    found = evidence.finding("d2t.duplicate-targets")
    assert found is not None
    assert "draft ids 2 and 3 both go to 2" in found.why


def test_a_permuted_map_disagrees_with_its_source(tmp_path: Path) -> None:
    truth = truth_file(tmp_path, [0, 0, 0, 0, 2, 2, 5, 5])
    evidence = ask(draft(tmp_path, [1, -1, 0, 0, 2, 2, 5, 5]), truth)
    assert confirmed(evidence) == {"d2t.disagrees-with-source"}
    found = evidence.finding("d2t.disagrees-with-source")
    assert found is not None
    assert "2 of 8 target ids differ" in found.why


def test_only_what_decides_is_read(tmp_path: Path) -> None:
    tensors = {
        "lm_head.weight": blank("BF16", 8, 4),
        "fc.weight": blank("BF16", 512, 512),
        "d2t": ids([0, 0, 0, 0, 2, 2, 5, 5]),
    }
    config: dict[str, Any] = {"vocab_size": 64, "draft_vocab_size": 8}
    evidence = ask(plant_checkpoint(tmp_path, tensors, config))
    read = {(r.kind, r.name) for i in evidence.inputs for r in i.read}
    assert ("tensor", "d2t") in read
    assert not any(name == "fc.weight" for _, name in read)


def test_a_map_behind_a_prefix_is_found(tmp_path: Path) -> None:
    tensors = {"lm_head.weight": blank("BF16", 8, 4), "model.d2t": ids([0, 0, 0, 0, 2, 2, 5, 5])}
    path = plant_checkpoint(tmp_path, tensors, {"vocab_size": 64, "draft_vocab_size": 8})
    assert nothing_is_wrong_or_open(ask(path))


def test_the_target_gives_the_vocabulary_where_the_draft_does_not(tmp_path: Path) -> None:
    path = plant_checkpoint(
        tmp_path, {"lm_head.weight": blank("BF16", 8, 4), "d2t": ids([0, 0, 0, 0, 2, 2, 5, 90])}
    )
    target = tmp_path / "target"
    target.mkdir()
    (target / "config.json").write_text(json.dumps({"text_config": {"vocab_size": 64}}))
    (target / "model.safetensors").write_bytes(safetensors_bytes({"x": blank("F32", 1)}))
    taken = {t.name: t for t in probe_class("d2t-format").takes}
    inputs = (
        BoundInput("draft", "checkpoint", taken["draft"].role, path),
        BoundInput("target", "checkpoint", taken["target"].role, str(target)),
    )
    evidence = run_probe(ProbeRun("d2t-format", inputs, {}))
    assert confirmed(evidence) == {"d2t.out-of-range"}
