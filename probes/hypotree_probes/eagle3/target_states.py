"""What every decoder layer of a small target gives out, by a plain-torch forward in float32.

`S_j` is the output of layer j (from 0) with its residual added and before the final norm, as
facts/eagle3.md section 5 counts. Checked against transformers 5 (Llama, Qwen2, Qwen3 with random
weights: the largest difference of any state was 4e-5). Llama, Qwen2 (biases) and Qwen3 (norms of q and k) decoders; the
target is read tensor by tensor, so that one layer is in memory at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch
import torch.nn.functional as F
from torch import Tensor

from hypotree.errors import UnreadableError
from hypotree_probes.eagle3.reference import attend, rms_norm, rope
from hypotree_probes.eagle3.torch_tensors import to_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hypotree.artifact.checkpoint import Checkpoint

KINDS: Final = frozenset({"llama", "qwen2", "qwen3", "mistral"})
_MAX_TOKENS: Final = 512


@dataclass(frozen=True)
class LayerStates:
    """One layer's outputs for T tokens, each [T, H]."""

    whole: Tensor
    """S_j."""
    added: Tensor
    """What the layer added: S_j without its residual stream."""
    last_part: Tensor
    """What its MLP alone added, as an engine that forgets the residual hands over."""


@dataclass(frozen=True)
class TargetStates:
    """Every layer's outputs, and the final norm's weight [H] with its epsilon."""

    layers: tuple[LayerStates, ...]
    norm: Tensor
    eps: float

    def normed(self, state: Tensor) -> Tensor:
        """A state after the target's final norm."""
        return rms_norm(state, self.norm, self.eps)


@torch.no_grad()
def target_states(
    target: Checkpoint, tokens: Tensor, advance: Callable[[int, int], None]
) -> TargetStates | str:
    """The states of at most 512 tokens; in words why not, if this target cannot be run."""
    config = _decoder_config(target.config())
    kind = config.get("model_type")
    if kind not in KINDS:
        return (
            f"a target of model_type {kind!r} cannot be run here (only {', '.join(sorted(KINDS))})"
        )
    if not target.shard_names():
        return "the target was given without tensors"
    if odd := _beyond_us(config):
        return f"a target with {odd} cannot be run here"
    layers = int(str(config.get("num_hidden_layers", 0)))
    run = _Run(target, config)
    embed, ids = run.tensor("embed_tokens.weight"), tokens[:_MAX_TOKENS]
    if not layers or not len(ids) or not 0 <= int(ids.min()) <= int(ids.max()) < len(embed):
        return f"the target has {layers} layers and {len(embed)} tokens, the sample has others"
    state = embed[ids].float()
    found = []
    for layer in range(layers):
        advance(layer, layers)
        found.append(run.layer(f"layers.{layer}.", state))
        state = found[-1].whole
    return TargetStates(tuple(found), run.tensor("norm.weight").float(), run.eps)


def _beyond_us(config: Mapping[str, object]) -> str:
    """What this forward does not compute: scaled rotations, other activations, short windows."""
    ropes = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = ropes.get("rope_type", ropes.get("type")) if isinstance(ropes, dict) else ropes
    window = config.get("sliding_window") if config.get("use_sliding_window", True) else None
    if kind not in {None, "default"}:
        return f"rope_type {kind!r}"
    if config.get("hidden_act", "silu") != "silu":
        return f"hidden_act {config.get('hidden_act')!r}"
    if isinstance(window, int) and window < _MAX_TOKENS:
        return f"sliding_window {window}"
    return ""


def _decoder_config(config: Mapping[str, object]) -> Mapping[str, object]:
    for name in ("text_config", "llm_config", "language_config"):
        if isinstance(nested := config.get(name), dict):
            return nested
    return config


class _Run:
    def __init__(self, target: Checkpoint, config: Mapping[str, object]) -> None:
        self._target = target
        self._names = target.names()
        self.eps = float(str(config.get("rms_norm_eps", 1e-6)))
        self._heads = int(str(config["num_attention_heads"]))
        self._shared = int(str(config.get("num_key_value_heads") or self._heads))
        ropes = config.get("rope_parameters")
        inner = ropes.get("rope_theta") if isinstance(ropes, dict) else None
        self._theta = float(str(config.get("rope_theta") or inner or 10000.0))

    def tensor(self, name: str) -> Tensor:
        """A tensor of the decoder, whatever prefix it has."""
        found = self.maybe(name)
        if found is None:
            raise UnreadableError(f"running {self._target.locator}", f"it holds no {name}")
        return found

    def maybe(self, name: str) -> Tensor | None:
        """The tensor, None if the target has none of that name."""
        tails = (f"model.{name}", name)
        key = next((k for k in self._names if k in tails or k.endswith(f".model.{name}")), None)
        value = self._target.tensor(key) if key else None
        return None if value is None else to_torch(value)

    def _linear(self, x: Tensor, name: str) -> Tensor:
        bias = self.maybe(f"{name}.bias")
        weight = self.tensor(f"{name}.weight").float()
        return F.linear(x, weight, None if bias is None else bias.float())

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return rms_norm(x, self.tensor(f"{name}.weight").float(), self.eps)

    def _rotated(self, x: Tensor, at: str, heads: int) -> Tensor:
        found = x.view(len(x), heads, -1)
        weight = self.maybe(f"{at}_norm.weight")
        if weight is not None:
            found = rms_norm(found, weight.float(), self.eps)
        return rope(found, torch.arange(len(x)), self._theta)

    def layer(self, at: str, state: Tensor) -> LayerStates:
        """One decoder layer on [T, H]."""
        x = self._norm(state, f"{at}input_layernorm")
        attention = f"{at}self_attn."
        q = self._rotated(self._linear(x, f"{attention}q_proj"), f"{attention}q", self._heads)
        k = self._rotated(self._linear(x, f"{attention}k_proj"), f"{attention}k", self._shared)
        v = self._linear(x, f"{attention}v_proj").view(len(x), self._shared, -1)
        visible = torch.ones(len(x), len(x), dtype=torch.bool).tril()
        mixed = self._linear(attend(q, k, v, visible), f"{attention}o_proj")
        x = self._norm(state + mixed, f"{at}post_attention_layernorm")
        gated = F.silu(self._linear(x, f"{at}mlp.gate_proj")) * self._linear(x, f"{at}mlp.up_proj")
        last = self._linear(gated, f"{at}mlp.down_proj")
        return LayerStates(state + mixed + last, mixed + last, last)
