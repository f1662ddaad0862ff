"""What vLLM's draft classes ask of their surroundings: one rank, no quantisation, no compiling.

Sources: vllm 0.33.0 and 0.20.0 model_executor/models/llama_eagle3.py and llama.py. The config
object is played by a namespace of what these read; the rest of it is stubs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypotree_probes.engines.harness import attention
from hypotree_probes.engines.harness.environment import Known

_CURRENT: list[Any] = []
#: How many layers the target has; a draft only numbers its own behind them.
_TARGET_LAYERS: Final = 61


class Attention(attention.Attention):
    """vLLM's names for the same; its batch is ambient, so keys and values are kept here."""

    def __init__(
        self, num_heads: int, head_size: int, scale: float, *_: Any, **options: Any
    ) -> None:
        super().__init__(num_heads, head_size, scale, options.get("num_kv_heads"))
        self._seen: dict[int, tuple[Tensor, Tensor]] = {}

    def forward(self, q: Tensor, k: Tensor, v: Tensor, *_: Any, **__: Any) -> Tensor:
        """Flat [T, heads * size] in and out."""
        return super().forward(q, k, v, self)

    def remember(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values so far: a model is built anew for every question."""
        if layer in self._seen:
            old = self._seen[layer]
            key, value = torch.cat([old[0], key]), torch.cat([old[1], value])
        self._seen[layer] = (key, value)
        return key, value


class LogitsProcessor(nn.Module):
    """The head's product, cut at the vocabulary and scaled."""

    def __init__(self, vocab_size: int, *_: Any, **options: Any) -> None:
        super().__init__()
        self.rows, self.scale = vocab_size, float(options.get("scale", 1.0))

    def forward(self, head: Any, hidden: Tensor, *_: Any) -> Tensor:
        """Logits of every position."""
        return F.linear(hidden, head.weight)[..., : self.rows] * self.scale


class QuantizationConfig:
    """A type that nothing here is an instance of."""


class VllmConfig(Known):
    """The whole config; a draft that declares a quantisation never comes here."""

    @staticmethod
    def get_quantization_config(*_: Any) -> None:
        """None."""


def _as_it_is(*arguments: Any, **_: Any) -> Any:
    """A class decorator that changes nothing, with arguments or without."""
    if len(arguments) == 1 and isinstance(arguments[0], type) and not _:
        return arguments[0]
    return lambda decorated: decorated


VLLM: Final[dict[str, Any]] = {
    "Attention": Attention,
    "LogitsProcessor": LogitsProcessor,
    "VllmConfig": VllmConfig,
    "AttentionType": SimpleNamespace(
        DECODER="decoder",
        ENCODER="encoder",
        ENCODER_ONLY="encoder_only",
        ENCODER_DECODER="encoder_decoder",
    ),
    "QuantizationConfig": QuantizationConfig,
    # Around load_weights, for reloading quantised models only.
    "support_quantized_model_reload_from_hp_weights": lambda function: function,
    "init_logger": logging.getLogger,
    "support_torch_compile": _as_it_is,
    "get_current_vllm_config": lambda: _CURRENT[-1],
    "maybe_fused_act_quant": lambda act, gate_up, *_, **__: act(gate_up),
    "direct_register_custom_op": lambda *_, **__: None,
}


def make(kind: type, config: Any) -> nn.Module:
    """Build a class from a namespace that plays vLLM's config."""
    draft = Known("draft_model_config", hf_config=config, dtype=torch.get_default_dtype())
    model = Known(
        "model_config", hf_config=config, dtype=torch.get_default_dtype(),
        get_total_num_hidden_layers=lambda: _TARGET_LAYERS,
        get_num_layers=lambda *_: _TARGET_LAYERS, get_vocab_size=lambda: config.vocab_size,
    )  # fmt: skip
    speculative = Known(
        "speculative_config", draft_model_config=draft, parallel_drafting=False, method="eagle3"
    )
    whole = VllmConfig(
        "vllm_config", model_config=model, speculative_config=speculative, quant_config=None,
        cache_config=None, lora_config=None, parallel_config=Known("parallel_config"),
    )  # fmt: skip
    with _current(whole):
        made: nn.Module = kind(vllm_config=whole, prefix="")
    return made


@contextmanager
def _current(whole: Any) -> Iterator[None]:
    _CURRENT.append(whole)
    try:
        yield
    finally:
        _CURRENT.pop()
