"""The served path: what the engine would load, and the states that it hands over."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.artifact.sample import Sample, SampleRecord
from hypotree.artifact.trace import Trace
from hypotree.errors import MisuseError
from hypotree.probe import ProbeContext
from hypotree_probes.eagle3.draft import find_tensor
from hypotree_probes.eagle3.reference import Acceptance, DraftConfig, Drafter, replay
from hypotree_probes.eagle3.torch_tensors import to_torch
from hypotree_probes.engines.coverage_facts import NoCoverage, gather

#: What a linear layer that was never loaded holds is arbitrary; this scale keeps it finite.
_UNLOADED_SCALE = 0.02
_SEED = 0


@dataclass(frozen=True)
class ServedPath:
    """All that decides what the drafter proposes; a counterfactual is one field changed."""

    weights: dict[str, Tensor]
    config: DraftConfig
    embed: Tensor
    tokens: Tensor
    states: Tensor
    fuse: bool
    d2t: Tensor
    start: int
    steps: int

    def drafter(self) -> Drafter:
        """The drafter with these weights."""
        return Drafter(self.weights, self.config, self.embed)

    def acceptance(self) -> Acceptance:
        """Greedy serving of the record by chains."""
        return replay(
            self.drafter(),
            self.tokens,
            self.states,
            fuse=self.fuse,
            num_draft=self.steps,
            d2t=self.d2t,
            start=self.start,
        )


@dataclass(frozen=True)
class Served:
    """The path as it is served, the path's story in words, and what it might be instead."""

    path: ServedPath
    how: str
    record: SampleRecord
    loaded: dict[str, Tensor]
    """The weights as they would be if the engine loaded every tensor."""


def serve(context: ProbeContext, steps: int) -> Served:
    """The path of the recorded sample: what the engine loads and hands over."""
    draft = context.need("draft", Checkpoint)
    record = context.need("sample", Sample).record()
    if record.tokens is None:
        raise MisuseError("replaying a sample", "it holds no tokens")
    config = DraftConfig.from_json(draft.config())
    weights, loaded, loading = _weights(context, draft)
    states, fuse, handing = _states(context, record)
    path = ServedPath(
        weights=weights,
        config=config,
        embed=_embeddings(context, draft),
        tokens=to_torch(record.tokens).long(),
        states=states,
        fuse=fuse,
        d2t=_map(draft, config.draft_vocab_size),
        start=_start(context, len(states)),
        steps=steps,
    )
    return Served(path, f"{loading}; {handing}", record, loaded)


def _weights(
    context: ProbeContext, draft: Checkpoint
) -> tuple[dict[str, Tensor], dict[str, Tensor], str]:
    """Every drafter tensor, those that the engine would drop as a fresh layer holds them; and all."""
    names = [n for n in draft.names() if n.rpartition(".")[2] not in {"d2t", "t2d"}]
    names = [name for name in names if not name.endswith("embed_tokens.weight")]
    dropped, loading = _dropped(context, draft)
    generator = torch.Generator().manual_seed(_SEED)
    weights: dict[str, Tensor] = {}
    loaded: dict[str, Tensor] = {}
    for name in names:
        value = draft.tensor(name)
        assert value is not None
        loaded[_bare(name)] = to_torch(value)
        is_dropped = name in dropped
        weights[_bare(name)] = (
            _unloaded(value.shape, generator) if is_dropped else loaded[_bare(name)]
        )
    return weights, loaded, loading


def _dropped(context: ProbeContext, draft: Checkpoint) -> tuple[frozenset[str], str]:
    engine = context.get("engine", Engine)
    if engine is None:
        return frozenset(), "every tensor loaded"
    found = gather(context, draft, engine)
    if isinstance(found, NoCoverage):
        return frozenset(), f"every tensor loaded ({found.why})"
    dropped = frozenset(found.ledger.dropped)
    if not dropped:
        return dropped, f"{found.engine} loads every tensor"
    return dropped, f"{found.engine} drops {len(dropped)} tensors"


def _unloaded(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """A norm starts as ones, a matrix as whatever was in memory."""
    if len(shape) == 1:
        return torch.ones(shape)
    return torch.randn(shape, generator=generator) * _UNLOADED_SCALE


def _states(context: ProbeContext, record: SampleRecord) -> tuple[Tensor, bool, str]:
    """The states that the drafter is handed, whether fc is applied to them, and why."""
    fuses, why = _fuses(context)
    if fuses:
        if record.aux is None:
            raise MisuseError("replaying a sample", "it holds no aux hidden states to fuse")
        return to_torch(record.aux), True, why
    if record.final is None:
        raise MisuseError("replaying a sample", "it holds no final hidden states to hand over raw")
    return to_torch(record.final), False, why


def _fuses(context: ProbeContext) -> tuple[bool, str]:
    trace = context.get("trace", Trace)
    if trace is None:
        return True, "the aux states are fused by fc"
    found = trace.record()
    fired = bool(found.fired("fc"))
    if not fired and not (found.hooked("fc") and found.state == "complete"):
        return True, "the aux states are fused by fc (the trace does not say otherwise)"
    how = "are fused by fc" if fired else "skip fc: the final state is handed over raw"
    return fired, f"as traced, states {how}"


def _embeddings(context: ProbeContext, draft: Checkpoint) -> Tensor:
    """The target's token embeddings; the draft's own where no target is given."""
    target = context.get("target", Checkpoint)
    for checkpoint in (target, draft):
        key = find_tensor(checkpoint, "embed_tokens.weight") if checkpoint else None
        value = checkpoint.tensor(key) if checkpoint and key else None
        if value is not None:
            return to_torch(value)
    raise MisuseError(
        "replaying a sample", "neither the target nor the draft holds embed_tokens.weight",
        "give --target",
    )  # fmt: skip


def _map(draft: Checkpoint, size: int) -> Tensor:
    """d2t as the engine adds it; without one, draft ids are taken for target ids."""
    key = find_tensor(draft, "d2t")
    value = draft.tensor(key) if key else None
    if value is None or not value.is_integer:
        return torch.zeros(size, dtype=torch.long)
    return to_torch(value).long()


def _start(context: ProbeContext, length: int) -> int:
    start = context.params.get("start", 1)
    if not isinstance(start, int) or isinstance(start, bool) or not 0 <= start < length:
        raise MisuseError("replaying a sample", f"start is {start!r}", f"0 to {length - 1}")
    return start


def _bare(name: str) -> str:
    return name.removeprefix("model.")
