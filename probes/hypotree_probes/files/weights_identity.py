"""Are these the weights that they are taken for?

Online weight sync that never reached the drafter, a server that loaded another checkpoint, a copy
that somebody edited (failures class L and J): compared by content, tensor by tensor, however the
two are sharded. The truth may be a manifest that `hypotree diff --manifest` dumped before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.artifact.weights import Weights
from hypotree.artifact.weights_diff import WeightsDiff, diff_weights
from hypotree.model.evidence import Finding, Locator, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext

if TYPE_CHECKING:
    from collections.abc import Sequence

DIFFER: Final = "weights.differ"
_SHOWN: Final = 3
_ROWS: Final = 40


class WeightsIdentity(Probe):
    """Compares a checkpoint with another one, or with a manifest of it."""

    name = "weights-identity"
    title = "The weights against those that they should be"
    version = "1"
    takes = (
        Input("draft", "weights", Role.SUBJECT, "the checkpoint in question", is_required=True),
        Input("truth", "weights", Role.TRUTH, "the right one, or a manifest of it",
              is_required=True),
    )  # fmt: skip
    decides = (
        Fault(
            DIFFER,
            "the weights are not those of the checkpoint that they are taken for",
            advice="load or sync the right checkpoint, and compare again",
        ),
    )
    time_limit = 3600.0

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding."""
        draft, truth = context.need("draft", Weights), context.need("truth", Weights)
        found = diff_weights(truth, draft, context.advance)
        context.measure("same", found.same)
        context.measure("changed", len(found.changed))
        context.show(_table(found))
        context.summary = f"Against the truth: {found.words()}."
        if found.is_empty:
            why = f"all {found.same} tensors have the truth's names, dtypes, shapes and bytes"
            return [
                Finding(DIFFER, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, (), ("truth",))
            ]
        names = [c.name for c in found.changed] + [new for _, new in found.renamed]
        places = tuple(Locator("draft", tensor=n) for n in [*names, *found.added][:20])
        why = f"{found.words()}{_examples(found)}"
        verdict, authority = Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH
        return [Finding(DIFFER, verdict, authority, why, places, ("truth",))]

    def cases(self) -> Sequence[Case]:
        """One byte changed, a tensor renamed, and the same weights in other shards."""
        from hypotree_probes.files.weights_cases import CASES

        return CASES


def _examples(found: WeightsDiff) -> str:
    said = [f"{plain(c.name)}: {c.how}, {c.detail}" for c in found.changed[:_SHOWN]]
    said += [f"{plain(old)} is now {plain(new)}" for old, new in found.renamed[:_SHOWN]]
    return f": {'; '.join(said)}" if said else ""


def _table(found: WeightsDiff) -> Table:
    rows: list[tuple[str, str, str, str]] = [
        ("changed", plain(c.name), c.how, c.detail) for c in found.changed
    ]
    rows += [("renamed", plain(new), "from", plain(old)) for old, new in found.renamed]
    rows += [("added", plain(name), "", "") for name in found.added]
    rows += [("gone", plain(name), "", "") for name in found.gone]
    return Table("Tensors that differ", ("what", "tensor", "how", "detail"), tuple(rows[:_ROWS]))
