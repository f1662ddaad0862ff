"""Does a training sample hold what its reader takes it for?

Errors of the training data make a head that no serving fix can mend (failures class I): a mask of
zeros, tokens that were shifted twice, a final state normed once too often or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.sample import Sample
from hypotree.model.evidence import Finding
from hypotree.model.verdict import Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext, not_run
from hypotree_probes.eagle3.training_verdicts import (
    LENGTHS,
    MASK,
    NORM,
    SHIFT,
    decide_against,
    decide_lengths,
    decide_mask,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_REDO = "dump the samples again with the tool that the trainer's reader was written for"


class TrainingContract(Probe):
    """Holds a sample against its own lengths and against the target that it was taken from."""

    name = "training-contract"
    title = "A training sample against what training assumes"
    version = "1"
    isolated = True
    takes = (
        Input("sample", "sample", Role.SUBJECT, "one training sample", is_required=True),
        Input("target", "checkpoint", Role.TRUTH, "a small target (Llama, Qwen2, Qwen3) to run"),
    )
    decides = (
        Fault(LENGTHS, "tokens, states and mask are not of one length", advice=_REDO),
        Fault(MASK, "the loss mask leaves no token to learn from", advice=_REDO),
        Fault(
            SHIFT,
            "tokens and states do not belong to each other row by row",
            needs=("target",),
            advice=_REDO,
        ),
        Fault(
            NORM,
            "the final state is normed where the reader expects it unnormed, or the reverse",
            needs=("target",),
            advice=_REDO,
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Two findings by definition, two by the target."""
        record = context.need("sample", Sample).record()
        target = context.get("target", Checkpoint)
        if target is None:
            against = (not_run(SHIFT, "give --target"), not_run(NORM, "give --target"))
        else:
            against = decide_against(record, target, context.advance)
        findings = (decide_lengths(record), decide_mask(record), *against)
        wrong = next((f for f in findings if f.verdict is Verdict.CONFIRMED), None)
        whose = record.producer or "unknown"
        context.summary = f"{wrong.why}." if wrong else f"a sample of {whose} form, no fault found."
        return findings

    def cases(self) -> Sequence[Case]:
        """Each way in which a sample goes wrong."""
        from hypotree_probes.eagle3.training_cases import CASES

        return CASES
