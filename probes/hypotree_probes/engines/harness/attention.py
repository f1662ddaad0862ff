"""Rotary embedding and attention in plain torch.

Sources: HF transformers' rope for `default`, `linear` and `llama3` (modeling_rope_utils.py),
which sglang's srt/layers/rotary_embedding.py and vllm's copy. Other kinds are not played.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from hypotree_probes.engines.harness.stubs import Undecidable


class Rope(nn.Module):
    """Rotates queries and keys by their positions."""

    def __init__(self, head_size: int, rotary_dim: int, base: float, *, halves: bool) -> None:
        super().__init__()
        self.head_size, self.rotary_dim, self.base = head_size, rotary_dim, base
        self._halves = halves
        self.scaling: dict[str, Any] = {}

    def _frequencies(self, device: torch.device) -> Tensor:
        half = torch.arange(self.rotary_dim // 2, dtype=torch.float32, device=device)
        freq = self.base ** (-half / (self.rotary_dim // 2))
        kind = self.scaling.get("rope_type") or self.scaling.get("type") or "default"
        if kind == "linear":
            return freq / float(self.scaling["factor"])
        return _llama3(freq, self.scaling) if kind == "llama3" else freq

    def forward(
        self, positions: Tensor, query: Tensor, key: Tensor, *_: Any
    ) -> tuple[Tensor, Tensor]:
        """Flat [T, heads * size] in and out."""
        angle = positions.to(torch.float32)[:, None, None] * self._frequencies(positions.device)
        return self._turn(query, angle), self._turn(key, angle)

    def _turn(self, flat: Tensor, angle: Tensor) -> Tensor:
        x = flat.reshape(flat.shape[0], -1, self.head_size).float()
        turned, rest = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        if self._halves:
            low, high = turned.chunk(2, -1)
        else:
            low, high = turned[..., ::2], turned[..., 1::2]
        parts = low * angle.cos() - high * angle.sin(), high * angle.cos() + low * angle.sin()
        whole = torch.cat(parts, -1) if self._halves else torch.stack(parts, -1).flatten(-2)
        return torch.cat([whole, rest], -1).reshape(flat.shape).to(flat.dtype)


def _llama3(freq: Tensor, scaling: Mapping[str, Any]) -> Tensor:
    """transformers 5.8.1 modeling_rope_utils.py, _compute_llama3_parameters."""
    factor, old = scaling["factor"], scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    wave = 2 * math.pi / freq
    smooth = (old / wave - low) / (high - low)
    mixed = (1 - smooth) / factor * freq + smooth * freq
    slow = torch.where(wave > old / low, freq / factor, freq)
    return torch.where((wave <= old / low) & (wave >= old / high), mixed, slow)


def get_rope(
    head_size: int,
    rotary_dim: int | None = None,
    max_position: int = 8192,
    base: float | None = None,
    is_neox_style: bool = True,
    rope_scaling: Mapping[str, Any] | None = None,
    rope_parameters: Mapping[str, Any] | None = None,
    **_: Any,
) -> Rope:
    """The engines' factory: sglang hands over `base` and `rope_scaling`, vllm `rope_parameters`."""
    del max_position
    given = dict(rope_scaling or rope_parameters or {})
    kind = given.get("rope_type") or given.get("type") or "default"
    if kind not in {"default", "linear", "llama3"}:
        raise Undecidable(f"the engine asks for a rotary embedding of kind {kind!r}")
    theta = base if base is not None else given.get("rope_theta", 10000.0)
    made = Rope(head_size, rotary_dim or head_size, float(theta), halves=is_neox_style)
    made.scaling = given
    return made


class Attention(nn.Module):
    """Causal grouped-query attention; keys and values are kept in the batch, by layer."""

    def __init__(
        self, num_heads: int, head_dim: int, scaling: float, num_kv_heads: int | None = None,
        layer_id: int = 0, **_: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_heads, self.head_dim, self.scaling = num_heads, head_dim, scaling
        self.num_kv_heads = num_kv_heads or num_heads
        self.layer_id = layer_id
        self.sliding_window_size = None

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, batch: Any = None, *_: Any, **__: Any
    ) -> Tensor:
        """Flat [T, heads * size] in and out."""
        count, groups = q.shape[0], self.num_heads // self.num_kv_heads
        key, value = (x.reshape(count, self.num_kv_heads, self.head_dim) for x in (k, v))
        if batch is not None:
            key, value = batch.remember(self.layer_id, key, value)
        query = q.reshape(count, self.num_kv_heads, groups, self.head_dim) * self.scaling
        scores = torch.einsum("tkgd,lkd->kgtl", query, key)
        total = key.shape[0]
        seen = torch.ones(count, total, dtype=torch.bool, device=q.device).tril(total - count)
        weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
        return torch.einsum("kgtl,lkd->tkgd", weights, value).reshape(count, -1)
