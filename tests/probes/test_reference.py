"""The reference forward on checkpoints that real producers saved, and against itself without a cache."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from hypotree_probes.eagle3.reference import (
    DraftConfig,
    Drafter,
    KVCache,
    canonical_names,
    draft_chains,
    replay,
)

PRODUCERS = Path(__file__).parents[1] / "cases" / "producers"
FOLDERS = sorted(p for p in PRODUCERS.iterdir() if p.is_dir())
FLAGS = ("none", "norm_before_residual", "norm_before_fc", "fc_norm", "norm_output")


def random_drafter(flag: str = "none", vocab: int = 96, draft_vocab: int = 40) -> Drafter:
    """Random float32 weights, GQA 4:2, with one option on."""
    gen = torch.Generator().manual_seed(7)
    size, inner, dim = 32, 48, 8
    raw = {
        "hidden_size": size,
        "intermediate_size": inner,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": dim,
    }
    extra = {"draft_vocab_size": draft_vocab, "vocab_size": vocab, "rms_norm_eps": 1e-5, flag: True}
    shapes = {
        "fc": (size, 3 * size),
        "midlayer.self_attn.q_proj": (4 * dim, 2 * size),
        "midlayer.self_attn.k_proj": (2 * dim, 2 * size),
        "midlayer.self_attn.v_proj": (2 * dim, 2 * size),
        "midlayer.self_attn.o_proj": (size, 4 * dim),
        "midlayer.mlp.gate_proj": (inner, size),
        "midlayer.mlp.up_proj": (inner, size),
        "midlayer.mlp.down_proj": (size, inner),
        "lm_head": (draft_vocab, size),
    }
    norms = ["norm", "input_norm", "fc_norm.0", "fc_norm.1", "fc_norm.2"]
    norms += [
        f"midlayer.{n}" for n in ("input_layernorm", "hidden_norm", "post_attention_layernorm")
    ]
    weights = {
        f"{n}.weight": torch.randn(s, generator=gen) * s[1] ** -0.5 for n, s in shapes.items()
    }
    widths = {n: 3 * size if n == "input_norm" else size for n in norms}
    weights |= {f"{n}.weight": torch.rand(w, generator=gen) + 0.5 for n, w in widths.items()}
    return Drafter(
        weights, DraftConfig.from_json(raw | extra), torch.randn(vocab, size, generator=gen)
    )


def load(folder: Path) -> tuple[Drafter, Tensor]:
    """A saved checkpoint as float32; a missing embedding is filled with seeded noise."""
    config = DraftConfig.from_json(json.loads((folder / "config.json").read_text()))
    weights = load_file(folder / "model.safetensors")
    noise = torch.randn(
        config.vocab_size, config.hidden_size, generator=torch.Generator().manual_seed(0)
    )
    return Drafter(weights, config, weights.get("embed_tokens.weight", noise)), weights["d2t"]


def drafters() -> list[tuple[str, Drafter]]:
    return [(flag, random_drafter(flag)) for flag in FLAGS] + [
        (folder.name, load(folder)[0]) for folder in FOLDERS
    ]


@pytest.mark.parametrize("drafter", [pytest.param(d, id=name) for name, d in drafters()])
def test_cached_chain_equals_recompute(drafter: Drafter) -> None:
    gen = torch.Generator().manual_seed(1)
    prefix, extra = 10, 4
    hidden = drafter.fuse(torch.randn(prefix, 3 * drafter.config.hidden_size, generator=gen))
    tokens = torch.randint(drafter.embed.shape[0], (prefix + extra,), generator=gen)
    cache = KVCache()
    state, logits = drafter.forward(hidden, tokens[:prefix], torch.arange(prefix), cache)
    for p in range(prefix, prefix + extra):
        hidden = torch.cat([hidden, state[-1:]])
        state, logits = drafter.forward(state[-1:], tokens[p : p + 1], torch.tensor([p]), cache)
        whole_state, whole = drafter.forward(
            hidden, tokens[: p + 1], torch.arange(p + 1), KVCache()
        )
        torch.testing.assert_close(logits[-1], whole[-1], atol=1e-5, rtol=0)
        torch.testing.assert_close(state[-1], whole_state[-1], atol=1e-5, rtol=0)
    assert logits.isfinite().all() and logits.std() > 0


@pytest.mark.parametrize("drafter", [pytest.param(d, id=name) for name, d in drafters()])
def test_batched_chains_equal_one_by_one(drafter: Drafter) -> None:
    gen = torch.Generator().manual_seed(2)
    length, steps = 12, 4
    hidden = drafter.fuse(torch.randn(length, 3 * drafter.config.hidden_size, generator=gen))
    tokens = torch.randint(drafter.embed.shape[0], (length,), generator=gen)
    seen: list[Tensor] = []

    def choose(step: int, logits: Tensor) -> Tensor:
        seen.append(logits)
        return logits.argmax(-1)

    draft_chains(drafter, hidden, tokens, steps, choose)
    for p in range(length):
        cache = KVCache()
        state, logits = drafter.forward(
            hidden[: p + 1], tokens[: p + 1], torch.arange(p + 1), cache
        )
        for step in range(steps):
            torch.testing.assert_close(seen[step][p], logits[-1], atol=1e-5, rtol=0)
            state, logits = drafter.forward(
                state[-1:], logits[-1:].argmax(-1), torch.tensor([p + 1 + step]), cache
            )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_replay_runs_on_producers(folder: Path) -> None:
    drafter, d2t = load(folder)
    gen = torch.Generator().manual_seed(3)
    tokens = torch.randint(drafter.config.vocab_size, (64,), generator=gen)
    states = torch.randn(64, 3 * drafter.config.hidden_size, generator=gen)
    got = replay(drafter, tokens, states, fuse=True, num_draft=4, d2t=d2t, start=4)
    assert 1.0 <= got.accept_length < 1.5 and got.drafted == 4 * got.verify_steps


def test_replay_accepts_what_the_drafter_itself_wrote() -> None:
    """A record whose every continuation is the drafter's own chain: each full chain is accepted, p moves by five."""
    drafter, d2t = random_drafter(), torch.arange(40)  # target id = 2 * draft id
    gen = torch.Generator().manual_seed(4)
    states = torch.randn(40, 96, generator=gen)
    tokens = torch.randint(96, (2,), generator=gen)
    while len(tokens) < 40:  # at p: the chain of four, then one token that the target would add
        chain: list[Tensor] = []

        def greedy(step: int, logits: Tensor, chain: list[Tensor] = chain) -> Tensor:
            chain.append(2 * logits.argmax(-1))
            return chain[-1]

        draft_chains(drafter, drafter.fuse(states[: len(tokens) - 1]), tokens[1:], 4, greedy)
        tokens = torch.cat(
            [tokens, *(c[-1:] for c in chain), torch.randint(96, (1,), generator=gen)]
        )
    got = replay(drafter, tokens[:40], states, fuse=True, num_draft=4, d2t=d2t, start=0)
    assert got.per_position == (1.0,) * 4 and got.accept_length == 5.0
    assert (
        got.verify_steps == 7 and got.accept_rate(5) == 1.0
    )  # p = 0, 5, ..., 30: the last whole chain


def test_replay_of_512_tokens_takes_under_three_seconds() -> None:
    torch.set_num_threads(1)
    drafter = random_drafter(draft_vocab=32_000, vocab=40_000)
    states, tokens = torch.randn(512, 96), torch.randint(40_000, (512,))
    began = time.perf_counter()
    replay(
        drafter,
        tokens,
        states,
        fuse=True,
        num_draft=4,
        d2t=torch.zeros(32_000, dtype=torch.int64),
        start=0,
    )
    assert time.perf_counter() - began < 3


def test_both_layer_spellings() -> None:
    one = torch.ones(1)
    assert (
        set(canonical_names({"midlayer.a": one}))
        == set(canonical_names({"layers.0.a": one}))
        == {"layer.a"}
    )
    with pytest.raises(ValueError, match="two tensors"):
        canonical_names({"midlayer.a": one, "layers.0.a": one})
