"""The contract of a training sample: what its tensors say by themselves, and against the target.

Sources (facts/eagle3.md section 8): all producers store tokens unshifted and shift on reading;
SpecForge stores the final state after the target's norm, speculators before it and norms it again
in training, ModelOpt after it in its HF dump and before it in its vLLM dump, which its reader does
not notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.errors import MalformedError
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree.artifact.sample import SampleRecord
    from hypotree_probes.eagle3.target_states import TargetStates

LENGTHS: Final = "training.length-mismatch"
MASK: Final = "training.loss-mask"
SHIFT: Final = "training.token-shift"
NORM: Final = "training.final-norm"
_AFTER: Final = {"specforge": True, "speculators": False, "modelopt": True}


def decide_lengths(record: SampleRecord) -> Finding:
    """As many states as tokens, as many mask values as tokens."""
    parts = {"tokens": record.tokens, "aux states": record.aux, "final states": record.final,
             "mask values": record.mask}  # fmt: skip
    counts = {name: value.shape[0] for name, value in parts.items() if value and value.shape}
    shown = ", ".join(f"{count} {name}" for name, count in counts.items())
    if len(set(counts.values())) > 1:
        return _confirmed(LENGTHS, shown)
    return _refuted(LENGTHS, shown)


def decide_mask(record: SampleRecord) -> Finding:
    """A mask that is nothing but zeros trains nothing."""
    mask = record.mask
    if mask is None:
        return not_run(MASK, "the sample holds no loss mask")
    try:
        kept = sum(value != 0 for value in mask.integers())
    except MalformedError:
        kept = any(mask.data)
    if not kept:
        return _confirmed(MASK, f"all {mask.shape[0]} mask values are 0: no token is learnt from")
    return _refuted(MASK, f"{kept} of {mask.shape[0]} tokens are learnt from")


def decide_against(
    record: SampleRecord, target: Checkpoint, advance: Callable[[int, int], None]
) -> tuple[Finding, Finding]:
    """Shift and final norm, by running the target on the sample's own tokens."""
    import torch

    from hypotree_probes.eagle3.target_states import target_states
    from hypotree_probes.eagle3.torch_tensors import to_torch

    if record.tokens is None or record.final is None:
        why = "the sample holds no tokens or no final state"
        return not_run(SHIFT, why), not_run(NORM, why)
    tokens = torch.tensor(record.tokens.integers())
    final = to_torch(record.final).float()
    tried = (
        ("", tokens, 0),
        ("to the left by one", tokens.roll(1), 0),
        ("", tokens, 1),
        ("", tokens, -1),
    )
    states: TargetStates | str = ""
    for words, text, rows in tried:
        if rows == 0:
            states = target_states(target, text, advance)
        if isinstance(states, str):
            return _open(SHIFT, states), _open(NORM, states)
        if final.shape[-1] != states.norm.shape[0]:
            why = f"the final state is {final.shape[-1]} wide, the target's {states.norm.shape[0]}"
            return _open(SHIFT, why), _open(NORM, why)
        is_after = _is_after(final, states, rows)
        if is_after is not None:
            return _shift(words, rows), _norm(record.producer, is_after=is_after)
        if rows == 0 and words:
            states = target_states(target, tokens, advance)
    why = "the final states are not those of this target on these tokens"
    return _open(SHIFT, why), _open(NORM, why)


def _is_after(final: Tensor, states: TargetStates, rows: int) -> bool | None:
    """Whether the final state is that of the target after its norm; None if neither fits."""
    from hypotree_probes.eagle3.likeness import likeness

    whole = states.layers[-1].whole
    count = min(len(final), len(whole)) - abs(rows)
    mine = final[max(rows, 0) : max(rows, 0) + count]
    theirs = whole[max(-rows, 0) : max(-rows, 0) + count]
    for is_after, state in ((True, states.normed(theirs)), (False, theirs)):
        if likeness("", mine, state).is_same:
            return is_after
    return None


def _shift(words: str, rows: int) -> Finding:
    if words:
        return _confirmed(SHIFT, f"the tokens are stored shifted {words}", "target")
    if rows:
        side = "later" if rows > 0 else "earlier"
        return _confirmed(SHIFT, f"the states of each token stand one row {side}", "target")
    return _refuted(SHIFT, "each token stands beside its own states", "target")


def _norm(producer: str, *, is_after: bool) -> Finding:
    where = "after the target's final norm" if is_after else "before the target's final norm"
    wanted = _AFTER.get(producer)
    if wanted is None:
        return not_run(NORM, f"the final state is {where}; whose form the sample has is not known")
    if wanted == is_after:
        return _refuted(NORM, f"the final state is {where}, as {producer} reads it", "target")
    why = f"the final state is {where}, and {producer} reads it as the other"
    if producer == "modelopt":  # its reader can be told by a flag
        at = Locator("sample", tensor="hidden_states")
        return Finding(NORM, Verdict.CONFIRMED, Authority.HEURISTIC, why, (at,), ("target",))
    return _confirmed(NORM, why, "target")


def _confirmed(code: str, why: str, *truth: str) -> Finding:
    where = (Locator("sample"),)
    return Finding(code, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, plain(why), where, truth)


def _refuted(code: str, why: str, *truth: str) -> Finding:
    return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, plain(why), (), truth)


def _open(code: str, why: str) -> Finding:
    return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, plain(why))
