"""Are the values in the tensors such as a layer can compute with?

One pass over all bytes in two threads (facts/performance.md section 6), in constant memory:
what is not finite and what is nothing but zeros is decided by definition, everything that only
looks odd is a suspicion. The evidence holds the digest of every tensor that was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.plain import plain
from hypotree.model.evidence import Finding, Table
from hypotree.model.verdict import Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext
from hypotree_probes.files.target_rows import MISPLACED, decide_rows
from hypotree_probes.files.tensor_scan import ScannedTensor, scan_tensors
from hypotree_probes.files.tensor_verdicts import (
    ALL_ZERO,
    CODES,
    NONFINITE,
    UNTRAINED,
    decide_all_zero,
    decide_codes,
    decide_nonfinite,
    decide_untrained,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROWS: Final = 40
_RESTORE: Final = "restore-tensor"


class TensorHealth(Probe):
    """Reads every tensor once and judges its values."""

    name = "tensor-health"
    title = "Values of the tensors: finite, not dead, not codes"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("truth", "checkpoint", Role.TRUTH, "a good copy, to restore broken tensors from"),
        Input("target", "checkpoint", Role.TRUTH, "the target, to compare rows with"),
    )
    decides = (
        Fault(
            NONFINITE, "a weight holds NaN or infinity", _RESTORE, explains=("acceptance.at-floor",)
        ),
        Fault(
            ALL_ZERO, "a layer's weight is all zeros", _RESTORE, explains=("acceptance.at-floor",)
        ),
        Fault(UNTRAINED, "a matrix still looks as it was initialised", fix="", is_guess=True),
        Fault(
            CODES, "a matrix holds the integer codes of a quantised weight", fix="", is_guess=True
        ),
        Fault(
            MISPLACED,
            "rows of the head or embedding belong to other tokens than the map says",
            fix="",
            needs=("target",),
            is_guess=True,
        ),
    )
    time_limit = 3600.0

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Two findings by definition, three suspicions."""
        draft = context.need("draft", Checkpoint)
        config = draft.config()
        tensors = scan_tensors(draft, draft.names(), context.advance)
        good = _restorable(context, tensors)
        findings = (
            decide_nonfinite(tensors, good),
            decide_all_zero(
                tensors, _norm_kind(config), good, is_tied=config.get("tie_word_embeddings") is True
            ),
            decide_untrained(tensors),
            decide_codes(tensors),
            decide_rows(draft, context.get("target", Checkpoint), context.advance),
        )
        context.measure("tensors", len(tensors))
        context.measure("bytes", sum(t.layout.end - t.layout.begin for t in tensors))
        context.show(_table(tensors))
        context.summary = _summary(findings, tensors)
        return findings

    def cases(self) -> Sequence[Case]:
        """F23 and its relatives."""
        from hypotree_probes.files.tensor_health_cases import CASES

        return CASES


def _restorable(context: ProbeContext, tensors: Sequence[ScannedTensor]) -> frozenset[str]:
    """Broken tensors of which the truth has a sound one of the same dtype and shape."""
    truth = context.get("truth", Checkpoint)
    broken = {t.name: t for t in tensors if not _is_sound(t)}
    if truth is None or not broken:
        return frozenset()
    return frozenset(
        other.name
        for other in scan_tensors(truth, broken, context.advance)
        if _is_sound(other) and other.layout[:2] == broken[other.name].layout[:2]
    )


def _is_sound(tensor: ScannedTensor) -> bool:
    values = tensor.values
    return values is None or (values.finite == values.count and not values.is_zero)


def _norm_kind(config: Mapping[str, object]) -> str:
    """The model type that the decoder layer is built from; "" if it is not said."""
    nested = config.get("transformer_layer_config")
    for place in (nested if isinstance(nested, dict) else {}, config):
        if isinstance(kind := place.get("model_type"), str):
            return kind
    names = config.get("architectures")
    is_llama = isinstance(names, list) and names[:1] == ["LlamaForCausalLMEagle3"]
    return "llama" if is_llama else ""


def _table(tensors: Sequence[ScannedTensor]) -> Table:
    """Broken tensors first, then the largest."""
    shown = sorted(tensors, key=lambda t: (_is_sound(t), t.layout.begin - t.layout.end))[:_ROWS]
    rows = tuple(
        (
            plain(t.name), t.layout.dtype, "x".join(map(str, t.layout.shape)), v.nan, v.infinite,
            round(v.zeros / v.count, 4) if v.count else 0, float(f"{v.mean:.3g}"),
            float(f"{v.deviation:.3g}"), float(f"{v.largest:.3g}"),
        )
        for t in shown
        if (v := t.values)
    )  # fmt: skip
    columns = ("tensor", "dtype", "shape", "NaN", "inf", "zeros", "mean", "std", "largest")
    return Table("Tensor values", columns, rows)


def _summary(findings: Sequence[Finding], tensors: Sequence[ScannedTensor]) -> str:
    wrong = next((f for f in findings if f.verdict is Verdict.CONFIRMED), None)
    if wrong:
        return f"{wrong.why}."
    return f"{len(tensors)} tensors read: all values finite, no layer dead."
