"""Make `incident_weights.safetensors`: train the small target, train the drafter on its states, record a sample.

    python -m hypotree_probes.incident.train [--out incident_weights.safetensors]

One thread, one seed: the same machine writes the same bytes. Takes about nine minutes on one core. The drafter is
trained as EAGLE-3 trains (training-time test, facts/eagle3.md sections 4 and 8): step 1 sees the fused target states,
steps 2 to 4 its own recurrent state, each step's loss is the cross-entropy against the target's distribution.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from hypotree_probes.eagle3.reference import DraftConfig, Drafter, draft_chains
from hypotree_probes.incident.d2t_map import DRAFT_VOCAB, IDENTITY, TARGET_VOCAB, incident_d2t
from hypotree_probes.incident.target import ACTIVE, HIDDEN, Language, Target, capture, train_target

SEED = 20_954
TARGET_STEPS = 1_300
DRAFT_STEPS = 2_400
DRAFT_TEXTS, DRAFT_LENGTH = 6, 160  # texts in a training step, tokens in each
NUM_DRAFT = 4  # SGLang's speculative_num_draft_tokens = 5 with the root
SAMPLE_LENGTH, PROMPT_LENGTH = 448, 32
ACTIVE_IDENTITY = 9  # active draft ids among the first 124, whose offset is 0

CONFIG = DraftConfig(
    hidden_size=HIDDEN,
    intermediate_size=192,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=HIDDEN // 4,
    rms_norm_eps=1e-5,
    rope_theta=10_000.0,
    draft_vocab_size=DRAFT_VOCAB,
    vocab_size=TARGET_VOCAB,
)


def active_draft_ids(seed: int) -> Tensor:
    """ACTIVE draft ids in a random order, int64 [ACTIVE]: a few with offset 0, the rest scattered over the map."""
    rng = random.Random(seed)
    ids: set[int] = set()
    while len(ids) < ACTIVE:
        first = len(ids) < ACTIVE_IDENTITY
        ids.add(
            int(rng.random() * IDENTITY)
            if first
            else IDENTITY + int(rng.random() * (DRAFT_VOCAB - IDENTITY))
        )
    return torch.tensor(sorted(ids))[
        torch.randperm(ACTIVE, generator=torch.Generator().manual_seed(seed))
    ]


def initial_weights(seed: int) -> dict[str, Tensor]:
    """The drafter's tensors before training; `lm_head.weight` has the active rows only."""
    generator = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int, gain: float = 1.0) -> Tensor:
        return torch.randn(rows, columns, generator=generator) * (gain / math.sqrt(columns))

    h, i, kv = HIDDEN, CONFIG.intermediate_size, CONFIG.num_key_value_heads * CONFIG.head_dim
    layer = {
        "self_attn.q_proj": matrix(h, 2 * h),
        "self_attn.k_proj": matrix(kv, 2 * h),
        "self_attn.v_proj": matrix(kv, 2 * h),
        "self_attn.o_proj": matrix(h, h),
        "mlp.gate_proj": matrix(i, h),
        "mlp.up_proj": matrix(i, h),
        "mlp.down_proj": matrix(h, i, 0.5),
        **{
            name: torch.ones(h)
            for name in ("input_layernorm", "hidden_norm", "post_attention_layernorm")
        },
    }
    top = {"fc": matrix(h, 3 * h), "norm": torch.ones(h), "lm_head": matrix(ACTIVE, h)}
    named = top | {f"layers.0.{name}": tensor for name, tensor in layer.items()}
    return {f"{name}.weight": tensor for name, tensor in named.items()}


def chain_loss(drafter: Drafter, text: Tensor, aux: Tensor, soft: Tensor) -> Tensor:
    """Mean cross-entropy of a text's chains. text [T] local ids; aux [T, 3H]; soft [T, ACTIVE], target's softmax.

    Chain p is given the true tokens, as in training-time test; step k predicts token p+1+k.
    """
    count = len(text) - 1 - NUM_DRAFT
    losses: list[Tensor] = []

    def teacher(step: int, logits: Tensor) -> Tensor:
        losses.append(-(soft[step : step + count] * logits.log_softmax(-1)).sum(-1).mean())
        return text[1 + step : 1 + step + count]

    draft_chains(drafter, drafter.fuse(aux[:count]), text[1 : 1 + count], NUM_DRAFT, teacher)
    return torch.stack(losses).mean()


def train_drafter(
    target: Target, language: Language, embed: Tensor, steps: int
) -> dict[str, Tensor]:
    """Train the drafter on fresh texts with the target's own states; returns its weights in bf16."""
    weights = {name: tensor.requires_grad_() for name, tensor in initial_weights(SEED).items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=4e-3, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 4e-3, total_steps=steps, pct_start=0.1
    )
    drafter = Drafter(
        weights, CONFIG, embed
    )  # float32 already, so the drafter shares the trained storage
    for step in range(1, steps + 1):
        texts = language.sample(DRAFT_TEXTS, DRAFT_LENGTH)
        with torch.no_grad():
            states, final = target.states(texts)
            aux, soft = capture(states), target.head(final).softmax(-1)
        loss = torch.stack(
            [chain_loss(drafter, *parts) for parts in zip(texts, aux, soft, strict=True)]
        ).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print(f"drafter {step}/{steps}: loss {loss.item():.3f}", flush=True)
    return {name: tensor.detach().to(torch.bfloat16) for name, tensor in weights.items()}


@torch.no_grad()
def record(target: Target, language: Language, seed: int) -> dict[str, Tensor]:
    """A held-out text, continued by the target itself (sampled at temperature 1), with its states.

    Returns local `input_ids` [T], `hidden_states` [T, H] (after the final norm), and `aux_hidden_states` [T, 3H] with
    captures one layer lower and higher, all float16.
    """
    generator = torch.Generator().manual_seed(seed)
    ids = language.sample(1, PROMPT_LENGTH)
    while ids.shape[1] < SAMPLE_LENGTH:
        nxt = torch.multinomial(target.logits(ids)[0, -1].softmax(-1), 1, generator=generator)
        ids = torch.cat([ids, nxt[None]], dim=1)
    states, final = target.states(ids)
    shifted = {"": 0, "_minus1": -1, "_plus1": 1}
    captures = {
        f"aux_hidden_states{suffix}": capture(states, shift)[0].half()
        for suffix, shift in shifted.items()
    }
    return {"input_ids": ids[0], "hidden_states": final[0].half(), **captures}


def write(tensors: dict[str, Tensor], out: Path) -> None:
    """Save with one metadata field: safetensors writes several in an order that changes from run to run."""
    facts = {"config": asdict(CONFIG), "prompt_length": PROMPT_LENGTH, "num_draft": NUM_DRAFT}
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(contiguous, out, metadata={"incident": json.dumps(facts)})
    out.chmod(0o644)  # save_file leaves 0600


def make(out: Path) -> None:
    """Train everything and write the file."""
    began = time.monotonic()
    target, language = train_target(SEED, TARGET_STEPS)
    target.requires_grad_(False)
    embed = target.embed.to(torch.bfloat16)
    target.embed.copy_(
        embed.float()
    )  # the shipped embedding is bf16: let the states come from the same numbers
    trained = time.monotonic()
    weights = train_drafter(target, language, embed, DRAFT_STEPS)
    drafted = time.monotonic()
    draft_ids = active_draft_ids(SEED)
    target_ids = draft_ids + torch.tensor(incident_d2t())[draft_ids]
    sample = record(target, language, SEED + 1)
    sample["input_ids"] = target_ids[sample["input_ids"]]
    lm_head = weights.pop("lm_head.weight")
    tensors = (
        weights
        | sample
        | {"active_draft_ids": draft_ids, "active_lm_head": lm_head, "active_embed": embed}
    )
    write(tensors, out)
    print(
        f"target {trained - began:.0f} s, drafter {drafted - trained:.0f} s, {out.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "incident_weights.safetensors"
    )
    make(parser.parse_args().out)
