"""A probe whose comparison is turned round is caught by its own planted cases."""

from __future__ import annotations

import pytest
from mutation import comparisons, flipped

from hypotree.probe.canary import check_case
from hypotree.probe.registry import all_probes, probe_class

E, F = "hypotree_probes.eagle3.", "hypotree_probes.files."
#: Comparisons that decide a verdict, one line a function; those that only choose words are not here.
DECISIONS: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {
    "acceptance-log": [
        (E + "acceptance_verdicts", "decide_floor", ("high < FLOOR", "low < FLOOR <= high")),
        (E + "acceptance_verdicts", "is_collapsed", (
            "first < ALIVE", "rate < COLLAPSED * first", "rate < BELOW_DECAY * first ** position")),
        (E + "acceptance_tally", "is_idle", ("self.idle_lines == self.lines",)),
    ],
    "aux-identity": [
        (E + "likeness", "is_same", ("self.error <= SAME",)),
        (E + "aux_verdicts", "_of_target", ("found.name != f'S_{want}'", "' ' not in found.name")),
    ],
    "aux-width": [
        (E + "fusion_width", "_compare", ("fusion.takes == parts * width",)),
        (E + "fusion_trace", "_bypassed", ("width != fusion.gives",)),
        (E + "fusion_sights", "_by_width", ("width == fusion.takes", "width == fusion.gives")),
    ],
    "canary": [
        (E + "trace_canary", "_cut_off", ("record.state == 'cut-off'",)),
    ],
    "config-contract": [
        (E + "contract_verdicts", "decide_vocabulary", ("said[1] != sizes.claimed",)),
        (E + "contract_verdicts", "_unclaimed", ("count == sizes.whole",)),
        (E + "contract_verdicts", "decide_tied", ("rows != sizes.whole",)),
        (E + "contract_verdicts", "decide_rope", ("flat == inner",)),
        (E + "contract_verdicts", "decide_target", ("said != theirs",)),
    ],
    "d2t-coverage": [(E + "d2t_coverage", "_decide", ("ceiling < FLOOR", "share < _POOR"))],
    "d2t-format": [
        (E + "d2t_facts", "relation", (
            "v == t - i", "stored == targets", "v == t - 2 * i", "len(stored) != len(targets)")),
        (E + "d2t_findings", "_form", ("found == form",)),
        (E + "d2t_definition", "out_of_range", ("t < 0", "t >= top")),
        (E + "d2t_definition", "duplicate_targets", ("counts[t] > 1",)),
        (E + "d2t_definition", "length_mismatch", ("size != length",)),
        (E + "d2t_definition", "_t2d_problems", ("len(marked) != len(stored)",)),
    ],
    "draft-replay": [
        (E + "draft_replay", "_judged", ("found.accept_length < FLOOR",)),
        (E + "acceptance_verdicts", "is_collapsed", ("rate < COLLAPSED * first",)),
    ],
    "file-integrity": [
        (F + "index_check", "_check", ("shard.tensors != tuple(tensors)",)),
        (F + "file_verdicts", "decide_truncated", ("f.problem == 'truncated'",)),
        (F + "file_verdicts", "decide_bad_header", ("f.problem != 'truncated'",)),
        (F + "digest_check", "decide_digests", ("found.hex != expected",)),
    ],
    "param-coverage": [
        ("hypotree_probes.engines.coverage", "ledger", (
            "name not in filled", "HEAD in lost", "name not in used")),
        ("hypotree_probes.engines.coverage_findings", "shape_mismatch", (
            "'hidden' not in found.sizes.sizes",)),
    ],
    "tensor-health": [
        (F + "tensor_statistics", "_add_wide", (
            "magnitude > form.infinity", "magnitude == form.infinity", "infinite > 0")),
        (F + "tensor_statistics", "is_zero", ("0 < self.count == self.zeros",)),
        (F + "tensor_verdicts", "_nonfinite", ("values.zeros == values.finite > 0",)),
    ],
    "training-contract": [
        (E + "training_verdicts", "decide_lengths", ("len(set(counts.values())) > 1",)),
        (E + "training_verdicts", "decide_mask", ("value != 0",)),
        (E + "training_verdicts", "_norm", ("wanted == is_after",)),
    ],
    "weights-identity": [
        ("hypotree.artifact.weights_diff", "diff_weights", (
            "before[n].sha256 != after[n].sha256", "n not in after")),
    ],
}  # fmt: skip
MUTATIONS = [
    pytest.param(probe, module, function, comparison, id=f"{probe}: {function}: {comparison}")
    for probe, functions in DECISIONS.items()
    for module, function, chosen in functions
    for comparison in chosen
]


@pytest.mark.parametrize(("probe", "module", "function", "comparison"), MUTATIONS)
def test_a_turned_comparison_is_caught(monkeypatch, probe, module, function, comparison):
    loaded = probe_class(probe)
    monkeypatch.setattr(loaded, "isolated", False)
    assert comparison in comparisons(module, function)
    with flipped(module, function, comparison):
        assert any(check_case(loaded, case) for case in loaded().cases())


def test_every_probe_with_cases_has_its_mutations():
    for name, loaded in all_probes()[0].items():
        assert name in DECISIONS or not loaded().cases() or name in FOREIGN


#: Probes whose mutations are shown where they are built.
FOREIGN: frozenset[str] = frozenset(
    {"aux-layers", "config-effective", "delegation", "forward-trace"}
)
