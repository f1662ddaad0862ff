"""The small target model of the incident and the synthetic language that it is trained on.

Language: a word is a pair (a, b). The next word is (a + u, b + v) along two hidden circles, where the strides u and v
are latent modes. A mode is announced by a marker token once, on average tens of tokens ago, and stays until the next
marker of its kind; after a marker the walk goes on from the word before it. So the next word depends on the current
word, on two announcements far back, and (after a marker) on the token before: nothing short of the context that the
target computes predicts it. As in real text, a smaller part is a matter of the last token alone: some words are always
followed by an ending. It is what a drafter that is deaf to the target can still get right, now and then.

Target: 61 decoder layers, as many as Kimi-K2.5 has. Six of them (TRAINED) hold a trained pre-norm attention and MLP
block. Every layer besides mixes the residual stream with its own frozen random rotation, h + (Q - I) h. That stands
in for the strong writes of a real model's layers: in a small network trained by SGD neighbouring layers come out
almost alike, and a capture that is off by one layer would hardly matter, unlike in real targets.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CIRCLE = 11  # values of a, and of b
MODES = 6  # values of u, and of v
WORDS = CIRCLE * CIRCLE
ACTIVE = WORDS + 2 * MODES + CIRCLE  # 144 tokens: words, u markers, v markers, endings
ENDED = (0, 5)  # places on b's circle whose words take an ending (which one: their a)
HAZARD = 0.06  # chance that a marker stands where a word could

HIDDEN = 48
HEADS = 4
LAYERS = 61
TRAINED = (0, 6, 14, 22, 34, 46)
CAPTURED = (2, 30, 58)  # S_j: output of decoder layer j, residual added
MIX = 0.8  # generator scale of the frozen rotations; neighbouring states then keep a cosine of about 0.7
EPS = 1e-5


class Language:
    """Samples of the language, as local ids 0..ACTIVE-1."""

    def __init__(self, generator: torch.Generator) -> None:
        """Draw the hidden order of both circles and the stride of each mode."""
        self._generator = generator
        self._order = torch.stack([torch.randperm(CIRCLE, generator=generator) for _ in range(2)])
        self._place = self._order.argsort(dim=1)
        strides = [torch.randperm(CIRCLE - 1, generator=generator)[:MODES] + 1 for _ in range(2)]
        self._strides = torch.stack(strides)  # distinct: two modes never agree on a next word

    def sample(self, count: int, length: int) -> Tensor:
        """`count` texts of `length` local ids, int64 [count, length]; each begins with both markers."""
        gen, rows = self._generator, torch.arange(2)[:, None]
        modes = torch.randint(MODES, (2, count), generator=gen)
        endings, ended = WORDS + 2 * MODES, torch.tensor(ENDED)
        word = torch.randint(CIRCLE, (2, count), generator=gen)
        out = [WORDS + modes[0], WORDS + MODES + modes[1], word[0] * CIRCLE + word[1]]
        while len(out) < length:
            ending = (out[-1] < WORDS) & torch.isin(self._place[1, word[1]], ended)
            switch = (torch.rand(count, generator=gen) < HAZARD) & ~ending
            kind = torch.randint(2, (count,), generator=gen)
            fresh = torch.randint(MODES, (count,), generator=gen)
            for k in range(2):
                modes[k] = torch.where(switch & (kind == k), fresh, modes[k])
            step = self._strides.gather(1, modes)
            moved = self._order[rows, (self._place[rows, word] + step) % CIRCLE]
            word = torch.where(switch | ending, word, moved)
            token = torch.where(switch, WORDS + kind * MODES + fresh, word[0] * CIRCLE + word[1])
            out.append(torch.where(ending, endings + word[0], token))
        return torch.stack(out, dim=1)


class Block(nn.Module):
    """Pre-norm causal attention with a learned recency slope for each head, then an MLP; [B, T, H] -> [B, T, H]."""

    def __init__(self) -> None:
        super().__init__()
        self.attn_norm, self.mlp_norm = nn.RMSNorm(HIDDEN, eps=EPS), nn.RMSNorm(HIDDEN, eps=EPS)
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.out = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.up, self.down = (
            nn.Linear(HIDDEN, 4 * HIDDEN),
            nn.Linear(4 * HIDDEN, HIDDEN, bias=False),
        )
        self.log_slope = nn.Parameter(torch.tensor([1.0, 0.3, 0.1, 0.03]).log())

    def forward(self, h: Tensor) -> Tensor:
        """Residual stream [B, T, H] -> [B, T, H]."""
        batch, length, _ = h.shape
        q, k, v = (
            x.view(batch, length, HEADS, -1).transpose(1, 2)
            for x in self.qkv(self.attn_norm(h)).chunk(3, -1)
        )
        place = torch.arange(length)
        distance = (place[:, None] - place).float()
        bias = torch.where(
            distance < 0,
            float("-inf"),
            -self.log_slope.exp()[:, None, None] * distance.clamp(min=0),
        )
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(batch, -1, -1, -1))
        h = h + self.out(mixed.transpose(1, 2).reshape(batch, length, HIDDEN))
        hidden: Tensor = h + self.down(F.gelu(self.up(self.mlp_norm(h))))
        return hidden


class Target(nn.Module):
    """The 61-layer target over the active tokens."""

    def __init__(self, generator: torch.Generator) -> None:
        """Frozen rotations from `generator`; the trained parameters from torch's global seed."""
        super().__init__()
        self.embed = nn.Parameter(torch.randn(ACTIVE, HIDDEN) * 0.7)
        self.blocks = nn.ModuleDict({str(layer): Block() for layer in TRAINED})
        self.norm = nn.RMSNorm(HIDDEN, eps=EPS)
        self.head = nn.Linear(HIDDEN, ACTIVE, bias=False)
        noise = (
            torch.randn(LAYERS, HIDDEN, HIDDEN, generator=generator) * MIX / HIDDEN**0.5 / 2**0.5
        )
        self.rotations = torch.linalg.matrix_exp(noise - noise.transpose(1, 2))
        self._merged: dict[int, Tensor] = {}
        product = torch.eye(HIDDEN)
        for layer in range(LAYERS):
            product = self.rotations[layer] @ product
            if layer in TRAINED or layer == LAYERS - 1:
                self._merged[layer] = product
                product = torch.eye(HIDDEN)

    def logits(self, ids: Tensor) -> Tensor:
        """ids [B, T] -> logits [B, T, ACTIVE]; runs of frozen rotations are multiplied out (for training)."""
        h = self.embed[ids]
        for layer, rotation in self._merged.items():
            h = h @ rotation.T
            if layer in TRAINED:
                h = self.blocks[str(layer)](h)
        out: Tensor = self.head(self.norm(h))
        return out

    def states(self, ids: Tensor) -> tuple[list[Tensor], Tensor]:
        """Layer by layer: ids [B, T] -> S_0..S_60, each [B, T, H], and the state after the final norm [B, T, H]."""
        h, captured = self.embed[ids], []
        for layer in range(LAYERS):
            h = h @ self.rotations[layer].T
            if layer in TRAINED:
                h = self.blocks[str(layer)](h)
            captured.append(h)
        return captured, self.norm(h)


def capture(states: list[Tensor], shift: int = 0) -> Tensor:
    """Concatenate S_2, S_30, S_58 (each index plus `shift`): -> [B, T, 3H]."""
    return torch.cat([states[layer + shift] for layer in CAPTURED], dim=-1)


def train_target(seed: int, steps: int, report: int = 100) -> tuple[Target, Language]:
    """Train by AdamW on fresh text; deterministic for a seed on one thread."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    language, target = Language(generator), Target(generator)
    optimizer = torch.optim.AdamW(
        target.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 3e-3, total_steps=steps, pct_start=0.1
    )
    for step in range(1, steps + 1):
        ids = language.sample(16, 128)
        logits = target.logits(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(target.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % report == 0:
            right = (logits.argmax(-1) == ids[:, 1:]).float().mean()
            print(
                f"target {step}/{steps}: loss {loss.item():.3f}, top-1 {right.item():.3f}",
                flush=True,
            )
    return target, language
