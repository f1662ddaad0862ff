"""From statistics to findings.

What may be zero or not finite on purpose (rule 9, facts/eagle3.md): biases, LoRA's B, the zero
points of quantisation, norms of classes that compute 1 + w, and additive attention masks of 0 and
minus infinity. Maps of integers are d2t-format's matter. An embedding that the engine overwrites
with the target's may be left zero, so that is a suspicion only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.model.edit import ReplaceTensor, TensorFrom
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run
from hypotree_probes.files.initialisers import LEAST, untrained_look

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from hypotree_probes.files.tensor_scan import ScannedTensor

NONFINITE: Final = "tensor.nonfinite"
ALL_ZERO: Final = "tensor.all-zero"
UNTRAINED: Final = "tensor.looks-untrained"
CODES: Final = "tensor.integer-codes"

#: Layers that every EAGLE-3 forward multiplies with (facts/eagle3.md section 4): zeros end it.
_LAYERS: Final = re.compile(
    r"(?:^|\.)(?:fc|lm_head|self_attn\.[qkvo]_proj|self_attn\.qkv_proj|mlp\.(?:gate|up|down)_proj|"
    r"mlp\.gate_up_proj)\.weight$"
)
_NORMS: Final = re.compile(r"norm(?:\.\d+)?\.weight$")
_MAY_BE_ZERO: Final = re.compile(
    r"bias$|lora_B|zero_?points?$|(?:^|\.)(?:d2t|t2d)$|mask|running_mean$"
)
#: Classes whose norms compute x * w; others (Gemma, Qwen3.5) compute x * (1 + w).
PLAIN_NORMS: Final = frozenset({"llama", "qwen2", "qwen3", "deepseek_v2", "deepseek_v3", "mistral"})
_FEWEST_CODES: Final = 64
_SHOWN: Final = 3
_PLACES: Final = 20

_Said = tuple[str, "ScannedTensor"]


def decide_nonfinite(tensors: Iterable[ScannedTensor], good: Collection[str]) -> Finding:
    """By definition: no layer computes with NaN or infinity."""
    said = [(why, t) for t in tensors if (why := _nonfinite(t))]
    if said:
        return _found(NONFINITE, said, Authority.SOURCE_OF_TRUTH, good)
    return _cleared(NONFINITE, "every value of every floating-point tensor is finite")


def _nonfinite(tensor: ScannedTensor) -> str:
    values = tensor.values
    if values is None or not (values.nan or values.infinite):
        return ""
    if not values.nan and not values.positive_infinite and values.zeros == values.finite > 0:
        return ""  # an additive attention mask
    parts = [f"{n} {what}" for n, what in ((values.nan, "NaN"), (values.infinite, "infinite")) if n]
    if values.nan == values.count:
        return f"all {values.count} values are NaN, as where a weight was never loaded"
    return f"{' and '.join(parts)} of {values.count} values"


def decide_all_zero(
    tensors: Iterable[ScannedTensor], norm_kind: str, good: Collection[str], *, is_tied: bool
) -> Finding:
    """By definition for the layers of the forward; for other tensors a suspicion.

    `is_tied`: the config ties the head to the embedding, so that no lm_head is used.
    """
    dead: list[_Said] = []
    odd: list[_Said] = []
    for tensor in tensors:
        if tensor.values and tensor.values.is_zero and not _MAY_BE_ZERO.search(tensor.name):
            said = (f"all {tensor.values.count} values are 0", tensor)
            if _NORMS.search(tensor.name):
                if norm_kind in PLAIN_NORMS:
                    dead.append(said)
            elif _LAYERS.search(tensor.name) and not (is_tied and "lm_head" in tensor.name):
                dead.append(said)
            elif tensor.values.count > 1:
                odd.append(said)
    if dead:
        return _found(ALL_ZERO, dead, Authority.SOURCE_OF_TRUTH, good)
    if odd:
        return _found(ALL_ZERO, odd, Authority.HEURISTIC)
    return _cleared(ALL_ZERO, "no weight that may not be zero is")


def decide_untrained(tensors: Sequence[ScannedTensor]) -> Finding:
    """A guess: mean, spread and tails are an initialiser's."""
    said = [(f"looks {why}", t) for t in tensors if (why := untrained_look(t))]
    if said:
        return _found(UNTRAINED, said, Authority.HEURISTIC)
    if not any(t.values and t.values.count >= LEAST for t in tensors):
        return not_run(UNTRAINED, f"no tensor has {LEAST} values: too few to tell")
    return _cleared(UNTRAINED, "no matrix looks freshly initialised", Authority.HEURISTIC)


def decide_codes(tensors: Iterable[ScannedTensor]) -> Finding:
    """A guess: a quantised weight's codes without their scales."""
    said = [
        (f"all {v.count} values are whole numbers up to {v.largest:.0f}", t)
        for t in tensors
        if (v := t.values) and _is_codes(t)
    ]
    if said:
        return _found(CODES, said, Authority.HEURISTIC)
    return _cleared(CODES, "no matrix holds whole numbers only", Authority.HEURISTIC)


def _is_codes(tensor: ScannedTensor) -> bool:
    values = tensor.values
    if values is None or len(tensor.layout.shape) < 2 or values.count < _FEWEST_CODES:
        return False
    # 0 and 1 alone are a mask or an identity; one value everywhere is no code.
    has_more = values.largest > 1 or values.total < 0
    return values.is_whole and values.finite == values.count and has_more and values.deviation > 0


def _found(
    code: str, said: Sequence[_Said], authority: Authority, good: Collection[str] = ()
) -> Finding:
    shown = "; ".join(f"{plain(t.name)}: {why}" for why, t in said[:_SHOWN])
    more = f"; and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    places = tuple(Locator("draft", file=t.file, tensor=t.name) for _, t in said[:_PLACES])
    edits = tuple(
        ReplaceTensor(t.name, TensorFrom("truth", t.name)) for _, t in said if t.name in good
    )
    return Finding(code, Verdict.CONFIRMED, authority, shown + more, places, remedy=edits)


def _cleared(code: str, why: str, authority: Authority = Authority.SOURCE_OF_TRUTH) -> Finding:
    return Finding(code, Verdict.REFUTED, authority, why)
