"""The forward batch that an engine's draft worker would hand over, as far as a draft reads it.

Sources: sglang 0.5.23 model_executor/forward_batch_info.py (ForwardMode) and
speculative/eagle_worker_v2.py: the target's states go in with a draft-extend batch, the
drafter's own state with decode batches. What else is asked of a batch ends the question.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

import torch
from torch import Tensor

from hypotree_probes.engines.harness.stubs import Undecidable

EXTEND: Final = "draft_extend"
DECODE: Final = "draft_decode"
_EXTEND_MODES: Final = frozenset({"is_extend", "is_draft_extend", "is_draft_extend_v2"})
_DECODE_MODES: Final = frozenset({"is_decode", "is_decode_or_idle"})
_MODES: Final = _EXTEND_MODES | _DECODE_MODES | {
    "is_idle", "is_target_verify", "is_prefill", "is_mixed", "is_cuda_graph", "is_dllm_extend",
}  # fmt: skip


class ForwardMode:
    """Answers `is_...()` for one phase; a question that is not listed ends it all."""

    def __init__(self, phase: str) -> None:
        self._true = _EXTEND_MODES if phase == EXTEND else _DECODE_MODES

    def __getattr__(self, name: str) -> Any:
        if name not in _MODES:
            raise Undecidable(f"the engine asks a forward mode for {name}")
        return lambda *_, **__: name in self._true


class Batch:
    """One forward of a draft worker; keys and values live on from batch to batch."""

    def __init__(self, phase: str, hidden: Tensor, cache: dict[int, tuple[Tensor, Tensor]]) -> None:
        self.forward_mode = ForwardMode(phase)
        self.spec_info = SimpleNamespace(hidden_states=hidden)
        self.mm_input_embeds = None
        self._cache = cache

    def contains_mm_inputs(self) -> bool:
        """Text only."""
        return False

    def remember(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values of a layer so far."""
        if layer in self._cache:
            old = self._cache[layer]
            key, value = torch.cat([old[0], key]), torch.cat([old[1], value])
        self._cache[layer] = (key, value)
        return key, value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Undecidable(f"the engine asks a forward batch for {name}")
