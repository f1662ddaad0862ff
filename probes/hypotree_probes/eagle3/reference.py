"""Plain-torch forward of a one-layer Llama EAGLE-3 drafter, and a replay of greedy serving with it.

Source: facts/eagle3.md section 4 (checked there against the forward code of SGLang, vLLM, SpecForge, speculators).
It shares no code with any engine, so that an engine can be compared with it. All arithmetic is float32.

    g = fc(aux_p)                                     first step only; later steps take the recurrent state
    e = RMS(E[x_{p+1}]; input_layernorm)              n = RMS(g; hidden_norm)
    u = r + O*Attn([e ; n])                           r = g, or n with norm_before_residual; embeds come FIRST
    h = u + MLP(RMS(u; post_attention_layernorm))     logits = lm_head(RMS(h; norm))
    next state: h (pre-norm), or RMS(h; norm) with norm_output
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class DraftConfig:
    """The fields of a draft config.json that change the forward (facts/eagle3.md sections 3, 4 and 6)."""

    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float
    draft_vocab_size: int
    vocab_size: int
    norm_before_residual: bool = False
    norm_before_fc: bool = False
    fc_norm: bool = False
    norm_output: bool = False

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> DraftConfig:
        """Read a HF llama style config, or speculators' nested one; absent flags are off (section 4: not all agree)."""
        layer = raw.get("transformer_layer_config", raw)
        eagle = raw.get("eagle_config") or {}

        rope = layer.get("rope_parameters") or {}
        heads = int(layer["num_attention_heads"])

        def flag(*names: str) -> bool:
            return any(bool(source.get(name)) for name in names for source in (raw, eagle))

        return cls(
            hidden_size=int(layer["hidden_size"]),
            intermediate_size=int(layer["intermediate_size"]),
            num_attention_heads=heads,
            num_key_value_heads=int(layer.get("num_key_value_heads") or heads),
            head_dim=int(layer.get("head_dim") or layer["hidden_size"] // heads),
            rms_norm_eps=float(layer.get("rms_norm_eps", 1e-6)),
            rope_theta=float(layer.get("rope_theta") or rope.get("rope_theta") or 10000.0),
            draft_vocab_size=int(raw.get("draft_vocab_size") or layer["vocab_size"]),
            vocab_size=int(layer["vocab_size"]),
            norm_before_residual=flag("norm_before_residual"),
            norm_before_fc=flag("norm_before_fc"),
            fc_norm=flag("fc_norm", "use_aux_norm"),
            norm_output=flag("norm_output"),
        )


def canonical_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename `midlayer.*` (EAGLE, SpecForge) and `layers.0.*` (speculators, ModelOpt) to `layer.*`; never both."""
    out = {
        re.sub(r"^(midlayer|layers\.0)\.", "layer.", name): tensor
        for name, tensor in weights.items()
    }
    if len(out) != len(weights):
        raise ValueError(
            "two tensors stand for one name: midlayer.* and layers.0.* are both present"
        )
    return out


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """RMSNorm of the last axis: [..., D], weight [D] -> [..., D]."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rope(x: Tensor, positions: Tensor, theta: float) -> Tensor:
    """HF llama rotation (halves, not pairs): x [T, heads, D] at integer positions [T] -> [T, heads, D]."""
    half = x.shape[-1] // 2
    freq = theta ** (-torch.arange(half, dtype=torch.float32) / half)
    angle = positions.to(torch.float32)[:, None, None] * freq
    cos, sin, low, high = angle.cos(), angle.sin(), x[..., :half], x[..., half:]
    return torch.cat([low * cos - high * sin, high * cos + low * sin], dim=-1)


@dataclass
class KVCache:
    """Keys and values of the positions seen so far, each [L, kv_heads, head_dim] float32; starts empty."""

    k: Tensor | None = None
    v: Tensor | None = None

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add [T, kv_heads, head_dim] to both, return both whole."""
        self.k = k if self.k is None else torch.cat([self.k, k])
        self.v = v if self.v is None else torch.cat([self.v, v])
        return self.k, self.v


def attend(
    q: Tensor, k: Tensor, v: Tensor, visible: Tensor, own: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    """Grouped-query attention of B queries over keys that they share, and over keys of their own.

    q [B, heads, D]; k, v [L, kv_heads, D] shared; visible bool [B, L]; own: two [B, S, kv_heads, D], all visible.
    Returns [B, heads * D].
    """
    batch, heads, dim = q.shape
    grouped = q.view(batch, k.shape[1], -1, dim) * dim**-0.5  # head i reads kv head i // group size
    scores = torch.einsum("bkgd,lkd->bkgl", grouped, k).masked_fill(
        ~visible[:, None, None], float("-inf")
    )
    if own is None:
        return torch.einsum("bkgl,lkd->bkgd", scores.softmax(-1), v).reshape(batch, heads * dim)
    scores = torch.cat([scores, torch.einsum("bkgd,bskd->bkgs", grouped, own[0])], dim=-1)
    weights, shared = scores.softmax(-1), k.shape[0]
    mixed = torch.einsum("bkgl,lkd->bkgd", weights[..., :shared], v)
    return (mixed + torch.einsum("bkgs,bskd->bkgd", weights[..., shared:], own[1])).reshape(
        batch, heads * dim
    )


class Drafter:
    """The drafter of facts/eagle3.md section 4. Every weight it needs must be given: fill missing ones before."""

    def __init__(self, weights: Mapping[str, Tensor], config: DraftConfig, embed: Tensor) -> None:
        """weights: float tensors, `midlayer.*` or `layers.0.*`; embed [V, H] of the target."""
        self.w = {
            n: t.float() for n, t in canonical_names(weights).items() if t.is_floating_point()
        }
        self.config, self.embed = config, embed

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return rms_norm(x, self.w[f"{name}.weight"], self.config.rms_norm_eps)

    def _heads(self, x: Tensor, name: str) -> Tensor:
        count = self.config.num_attention_heads if name == "q" else self.config.num_key_value_heads
        out = F.linear(x, self.w[f"layer.self_attn.{name}_proj.weight"]).view(
            len(x), count, self.config.head_dim
        )
        norm = f"layer.self_attn.{name}_norm"  # Qwen3 drafts only
        return self._norm(out, norm) if f"{norm}.weight" in self.w else out

    def fuse(self, aux: Tensor) -> Tensor:
        """Concatenated target states [T, n_aux*Ht] -> fused states [T, H]."""
        x = aux.float()
        if self.config.norm_before_fc:
            x = self._norm(x, "input_norm")
        if self.config.fc_norm:
            chunks = x.chunk(sum(name.startswith("fc_norm.") for name in self.w), dim=-1)
            x = torch.cat(
                [self._norm(chunk, f"fc_norm.{i}") for i, chunk in enumerate(chunks)], dim=-1
            )
        return F.linear(x, self.w["fc.weight"])

    def project(
        self, hidden: Tensor, token_ids: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """hidden [T, H], token_ids [T] of p+1, positions [T] of p -> residual [T, H] and rotated q, k, v."""
        norm, theta = self._norm(hidden, "layer.hidden_norm"), self.config.rope_theta
        # A wrong vocab map can name ids outside the target's vocabulary: an engine reads some row there, we the last.
        rows = self.embed[token_ids.clamp(0, self.embed.shape[0] - 1)].float()
        both = torch.cat([self._norm(rows, "layer.input_layernorm"), norm], dim=-1)
        q, k = (rope(self._heads(both, name), positions, theta) for name in "qk")
        return (norm if self.config.norm_before_residual else hidden), q, k, self._heads(both, "v")

    def finish(self, residual: Tensor, attention: Tensor) -> tuple[Tensor, Tensor]:
        """residual [T, H], attention [T, heads*D] -> (next recurrent state [T, H], logits [T, DV])."""
        w, u = self.w, residual + F.linear(attention, self.w["layer.self_attn.o_proj.weight"])
        x = self._norm(u, "layer.post_attention_layernorm")
        gated = F.silu(F.linear(x, w["layer.mlp.gate_proj.weight"])) * F.linear(
            x, w["layer.mlp.up_proj.weight"]
        )
        h = u + F.linear(gated, w["layer.mlp.down_proj.weight"])
        normed = self._norm(h, "norm")
        return (normed if self.config.norm_output else h), F.linear(normed, w["lm_head.weight"])

    def forward(
        self, hidden: Tensor, token_ids: Tensor, positions: Tensor, cache: KVCache
    ) -> tuple[Tensor, Tensor]:
        """Run T positions after those in the cache, which is extended: -> (state [T, H], logits [T, DV])."""
        residual, q, new_k, new_v = self.project(hidden, token_ids, positions)
        k, v = cache.append(new_k, new_v)
        visible = torch.ones(q.shape[0], k.shape[0], dtype=torch.bool).tril(k.shape[0] - q.shape[0])
        return self.finish(residual, attend(q, k, v, visible))


Choose = Callable[[int, Tensor], Tensor]


def draft_chains(
    drafter: Drafter, hidden: Tensor, token_ids: Tensor, num_draft: int, choose: Choose
) -> None:
    """Draft a chain from every position at once: hidden [P, H] is the first step's state, token_ids [P] are x_{p+1}.

    `choose(step, logits [P, DV])` is called for steps 1..num_draft and returns target ids [P] for the next step.
    Chain p attends to the first-step keys of 0..p (an engine re-extends over accepted tokens) and its own later steps.
    """
    positions, cache = torch.arange(len(hidden)), KVCache()
    state, logits = drafter.forward(hidden, token_ids, positions, cache)
    assert cache.k is not None
    assert cache.v is not None
    visible = torch.ones(len(positions), len(positions), dtype=torch.bool).tril()
    own: list[tuple[Tensor, Tensor]] = []
    for step in range(1, num_draft + 1):
        chosen = choose(step, logits)
        if step == num_draft:
            return
        residual, q, k, v = drafter.project(state, chosen, positions + step)
        own.append((k, v))
        keys, values = (torch.stack(side, dim=1) for side in zip(*own, strict=True))
        state, logits = drafter.finish(
            residual, attend(q, cache.k, cache.v, visible, (keys, values))
        )


@dataclass(frozen=True)
class Acceptance:
    """Counts of a replay, by the definitions of facts/eagle3.md section 7."""

    verify_steps: int
    drafted: int
    accepted: int
    per_position: tuple[
        float, ...
    ]  # share of verify steps in which draft token k was accepted (unconditional)

    @property
    def accept_length(self) -> float:
        """Tokens gained per verify step, with the target's own: 1.0 is the floor."""
        return 1.0 + self.accepted / self.verify_steps

    def accept_rate(self, num_draft_tokens_including_root: int) -> float:
        """`accept rate` as SGLang 0.5.6 to 0.5.10 logs it, accept length over D, whose floor is 1/D."""
        return self.accept_length / num_draft_tokens_including_root


@torch.no_grad()
def replay(
    drafter: Drafter,
    sample_tokens: Tensor,
    states: Tensor,
    *,
    fuse: bool,
    num_draft: int,
    d2t: Tensor,
    start: int,
) -> Acceptance:
    """Greedy serving of a recorded text. sample_tokens [T]; states [T, n_aux*H] (fuse) or [T, H] (handed over raw).

    At p the drafter has the states of 0..p and the tokens 0..p+1; it drafts `num_draft` tokens, keeps those before the
    first that differs from the record, and goes on at p + accepted + 1, from p = start to the last whole chain on
    record. d2t int64 [DV]: target id = draft id + d2t[draft id].
    """
    hidden = drafter.fuse(states[:-1]) if fuse else states[:-1].float()
    drafts: list[Tensor] = []

    def greedy(_: int, logits: Tensor) -> Tensor:
        draft_ids = logits.argmax(-1)
        drafts.append(draft_ids + d2t[draft_ids])
        return drafts[-1]

    draft_chains(drafter, hidden, sample_tokens[1:], num_draft, greedy)
    last = len(sample_tokens) - 2 - num_draft  # the last p whose whole chain is on record
    truth = torch.stack([sample_tokens[2 + k : 3 + k + last] for k in range(num_draft)], dim=1)
    right = (torch.stack(drafts, dim=1)[: last + 1] == truth).long().cumprod(1).sum(1).tolist()
    counts, p = list[int](), start
    while p <= last:
        counts.append(right[p])
        p += right[p] + 1
    per_position = tuple(sum(c > k for c in counts) / len(counts) for k in range(num_draft))
    return Acceptance(len(counts), len(counts) * num_draft, sum(counts), per_position)
