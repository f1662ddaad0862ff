"""d2t-format: is the draft-to-target map what every engine takes it for?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from hypotree.model.evidence import Finding, Table
from hypotree.model.verdict import Role
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree_probes.eagle3 import d2t_definition, d2t_findings
from hypotree_probes.eagle3.d2t_facts import D2tFacts, gather, relation

_MAP = ("truth",)
_MAP_OR_T2D = ()  # t2d lies in the checkpoint; without either the values alone may exclude it
_ROWS = 3


class D2tFormat(Probe):
    """Decides every d2t.* code from the map, its t2d, the head's rows and a map of other origin."""

    name: ClassVar[str] = "d2t-format"
    title: ClassVar[str] = "the draft vocabulary's map to target ids"
    version: ClassVar[str] = "1"
    takes: ClassVar[tuple[Input, ...]] = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("truth", "vocabulary-map", Role.TRUTH, "the map that training used (--vocab-map)"),
        Input("target", "checkpoint", Role.TRUTH, "the target, for its vocabulary size"),
    )
    decides: ClassVar[tuple[Fault, ...]] = (
        Fault("d2t.absolute-ids", "d2t holds absolute target ids, the engine adds the draft id to them",
              "d2t-to-offsets", _MAP_OR_T2D, explains=("d2t.out-of-range", "d2t.disagrees-with-t2d")),
        Fault("d2t.double-subtracted", "a correct d2t had the draft id subtracted once more",
              "restore-tensor", explains=("d2t.out-of-range", "d2t.disagrees-with-t2d",
                                          "d2t.duplicate-targets")),
        Fault("d2t.missing", "the draft vocabulary is reduced and no map says to what", "insert-tensor"),
        Fault("d2t.never-loaded", "d2t is still the all-zero buffer that it started as",
              "restore-tensor", explains=("d2t.disagrees-with-t2d",)),
        Fault("d2t.disagrees-with-source", "d2t names other target ids than the map that training used",
              "restore-tensor", _MAP, explains=("d2t.out-of-range", "d2t.duplicate-targets",
                                                "d2t.disagrees-with-t2d")),
        Fault("d2t.out-of-range", "d2t leads to ids that the target does not have", "restore-tensor"),
        Fault("d2t.duplicate-targets", "two draft ids lead to one target id", "restore-tensor"),
        Fault("d2t.length-mismatch", "d2t is not as long as the draft vocabulary", "restore-tensor"),
        Fault("d2t.dtype", "d2t is not stored as integers", "restore-tensor"),
        Fault("d2t.disagrees-with-t2d", "d2t and t2d name different target ids", "restore-tensor"),
    )  # fmt: skip

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding for each d2t code."""
        facts = gather(context)
        context.summary = _summary(facts)
        if facts.stored is not None:
            context.show(_rows(facts))
        return [
            d2t_findings.absolute_ids(facts),
            d2t_findings.double_subtracted(facts),
            d2t_findings.missing(facts),
            d2t_findings.never_loaded(facts),
            d2t_findings.disagrees_with_source(facts),
            d2t_definition.out_of_range(facts),
            d2t_definition.duplicate_targets(facts),
            d2t_definition.length_mismatch(facts),
            d2t_definition.dtype(facts),
            d2t_definition.disagrees_with_t2d(facts),
        ]

    def cases(self) -> Sequence[Case]:
        """Planted faults and healthy twins, at vocabulary 16 to 64."""
        from hypotree_probes.eagle3.d2t_cases import CASES

        return CASES


def _summary(facts: D2tFacts) -> str:
    """What the map is, in words."""
    if not facts.present:
        return "d2t is not there"
    if facts.stored is None:
        return f"d2t is of dtype {facts.dtype}, no map of ids"
    count = len(facts.stored)
    targets, _ = facts.reference()
    if targets is None:
        reason = f": {facts.truth.why}" if facts.truth else ", nothing given to compare it with"
        return f"d2t has {count} values{reason}"
    beside = "the source map" if facts.truth else "its own t2d"
    words = {
        "offsets": f"d2t holds offsets: all {count} target ids are those of {beside}",
        "absolute": f"d2t holds absolute ids: its values are the target ids of {beside}",
        "double-subtracted": "d2t is double-subtracted: offsets less the draft id",
        "unset": "d2t is unset: all zeros",
        "other": f"d2t is not a form of {beside}",
        "other-length": f"d2t has {count} values, {beside} {len(targets)}",
    }
    return words[relation(facts.stored, targets)]


def _rows(facts: D2tFacts) -> Table:
    """A handful of rows: the first, those around the first difference (or first non-zero), the last."""
    stored = facts.stored or ()
    targets, _ = facts.reference()
    middle = d2t_findings.first_difference(facts)
    if not middle:
        middle = next((i for i, value in enumerate(stored) if value), 0)
    wanted = {
        *range(_ROWS),
        *range(middle - 1, middle + _ROWS),
        *range(len(stored) - 2, len(stored)),
    }
    rows = tuple(
        (i, stored[i], facts.targets[i], targets[i] if targets and i < len(targets) else None)
        for i in sorted(wanted)
        if 0 <= i < len(stored)
    )
    last = "truth" if facts.truth or targets is None else "t2d"
    return Table("d2t, a handful of rows", ("draft id", "stored", "target", last), rows)
