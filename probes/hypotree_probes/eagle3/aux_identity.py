"""Are the captured states what the drafter was trained on?

Width says nothing about content: most faults of capture keep the width and change which layer is
read (B1, B3-B7), what part of it (the residual: F08, vllm#50815; the norm), or the order of the
three. The truth is a second capture of the same tokens, or a small target on disk that is run here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.sample import Sample, SampleRecord
from hypotree.model.evidence import Finding, Locator, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext, not_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from hypotree_probes.eagle3.aux_verdicts import Block

CONTENT: Final = "aux.content-differs"
_NEEDS: Final = ("truth", "target")


class AuxIdentity(Probe):
    """Compares captured aux states with a second capture, or with a target's own layers."""

    name = "aux-identity"
    title = "What the captured hidden states are"
    version = "1"
    isolated = True
    takes = (
        Input("sample", "sample", Role.SUBJECT, "the capture in question", is_required=True),
        Input("truth", "sample", Role.TRUTH, "a second capture of the same tokens that is right"),
        Input("target", "checkpoint", Role.TRUTH, "a small target (Llama, Qwen2, Qwen3) to run"),
        Input(
            "draft", "checkpoint", Role.OBSERVATION, "the draft, for the ids it was trained with"
        ),
    )
    decides = (
        Fault(
            CONTENT,
            "the captured states are not the layer outputs that training read",
            needs=_NEEDS,
            explains=("acceptance.at-floor",),
            advice="make the engine capture the outputs of the layers that training read, residual "
            "added and before the final norm; then record and compare again",
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding, and what each block is."""
        record = context.need("sample", Sample).record()
        truth = context.get("truth", Sample)
        target = context.get("target", Checkpoint)
        if truth is None and target is None:
            return [not_run(CONTENT, "give a second capture or a small target as the truth")]
        if record.aux is None:
            return [_open("the sample holds no aux states")]
        found = (
            _by_capture(record, truth.record())
            if truth is not None
            else _by_target(context, record, target)
        )
        if isinstance(found, str):
            context.summary = f"Cannot tell: {found}."
            return [_open(found)]
        blocks, said = found
        context.show(_table(blocks))
        finding = _decide(blocks, said, "truth" if truth is not None else "target")
        context.summary = f"{finding.why}."
        return [finding]

    def cases(self) -> Sequence[Case]:
        """F08 and the ways in which a capture goes wrong."""
        from hypotree_probes.eagle3.aux_identity_cases import CASES

        return CASES


def _by_capture(record: SampleRecord, right: SampleRecord) -> tuple[list[Block], str] | str:
    from hypotree_probes.eagle3.aux_verdicts import against_capture

    if right.aux is None or record.aux is None:
        return "the second capture holds no aux states"
    if record.tokens and right.tokens and record.tokens.integers() != right.tokens.integers():
        return "the two captures are of different tokens"
    if record.aux.shape[0] != right.aux.shape[0]:
        return f"the captures have {record.aux.shape[0]} and {right.aux.shape[0]} rows"
    parts = _parts(right)
    if parts is None:
        return "how many states are joined is not known: the final state is not there"
    if record.aux.shape[-1] != right.aux.shape[-1]:
        return (
            f"the captures are {record.aux.shape[-1]} and {right.aux.shape[-1]} wide: see aux-width"
        )
    return against_capture(_split(record, parts), _split(right, parts)), "the second capture"


def _by_target(
    context: ProbeContext, record: SampleRecord, target: Checkpoint | None
) -> tuple[list[Block], str] | str:
    import torch

    from hypotree_probes.eagle3.aux_expectation import expected_layers
    from hypotree_probes.eagle3.aux_verdicts import against_target
    from hypotree_probes.eagle3.target_states import target_states

    assert target is not None
    assert record.aux is not None
    if record.tokens is None:
        return "the sample holds no tokens to run the target on"
    tokens = torch.tensor(record.tokens.integers())
    states = target_states(target, tokens, context.advance)
    if isinstance(states, str):
        return states
    width = states.norm.shape[0]
    if record.aux.shape[-1] % width:
        return f"the states are {record.aux.shape[-1]} wide, the target's {width}: see aux-width"
    draft = context.get("draft", Checkpoint)
    layers, source = expected_layers(draft, context.params.get("layers"))
    blocks = against_target(_split(record, record.aux.shape[-1] // width), states, layers)
    said = f"the target's own layers ({source})" if source else "the target's own layers"
    return blocks, said


def _parts(record: SampleRecord) -> int | None:
    """How many states the aux tensor joins, by the final state's width."""
    if record.aux is None or record.final is None or record.aux.shape[-1] % record.final.shape[-1]:
        return None
    return record.aux.shape[-1] // record.final.shape[-1]


def _split(record: SampleRecord, parts: int) -> list[Tensor]:
    from hypotree_probes.eagle3.torch_tensors import to_torch

    assert record.aux is not None
    return list(to_torch(record.aux).float().chunk(parts, dim=-1))


def _decide(blocks: Sequence[Block], said: str, truth: str) -> Finding:
    wrong = [(i, b) for i, b in enumerate(blocks, start=1) if b.wrong]
    if not wrong:
        whats = ", ".join(b.what for b in blocks)
        why = f"all {len(blocks)} blocks are as they should be, by {said}: {whats}"
        return Finding(CONTENT, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, (), (truth,))
    why = "; ".join(f"block {i} of {len(blocks)}: {b.wrong}" for i, b in wrong[:4])
    where = (Locator("sample", tensor="aux_hidden_states", element=wrong[0][0] - 1),)
    why = f"by {said}: {why}"
    return Finding(CONTENT, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, where, (truth,))


def _table(blocks: Sequence[Block]) -> Table:
    rows = tuple(
        (i, b.what, round(b.error, 4), round(b.cosine, 4)) for i, b in enumerate(blocks, start=1)
    )
    return Table("Blocks of the capture", ("block", "is", "relative error", "cosine"), rows)


def _open(why: str) -> Finding:
    return Finding(CONTENT, Verdict.INCONCLUSIVE, Authority.NONE, why)
