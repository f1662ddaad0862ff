"""Expand `incident_weights.safetensors` to tensors of the incident's real vocabulary sizes, the same each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from hypotree_probes.eagle3.reference import DraftConfig
from hypotree_probes.incident.d2t_map import incident_d2t

_FILL_SEED = 163_840
_LM_HEAD_FILL = 0.02  # logits of unused rows stay below 1 where active ones reach 10
_EMBED_FILL = 0.7  # the scale of trained rows: an unused token looks like any other
_SAMPLE = (
    "input_ids",
    "hidden_states",
    "aux_hidden_states",
    "aux_hidden_states_minus1",
    "aux_hidden_states_plus1",
)


@dataclass(frozen=True)
class Incident:
    """Everything a case needs, at full vocabulary size."""

    config: DraftConfig
    drafter: dict[str, Tensor]  # bf16, named as saved (`layers.0.*`), with lm_head.weight [DV, H]
    d2t: Tensor  # int64 [DV]
    embed_tokens: Tensor  # bf16 [V, H], the target's
    sample: dict[str, Tensor]  # input_ids int64 [T] (target ids), states float16
    prompt_length: int
    num_draft: int


@contextmanager
def _one_thread() -> Iterator[None]:
    """Seeded fills must not depend on how many threads torch splits them over."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _fill(rows: int, width: int, scale: float, seed: int) -> Tensor:
    """Seeded uniform bf16 [rows, width] with standard deviation `scale`; integers first, so no libm is involved."""
    generator = torch.Generator().manual_seed(seed)
    codes = torch.randint(-128, 128, (rows, width), generator=generator, dtype=torch.int8)
    return codes.to(torch.bfloat16) * (scale * 3**0.5 / 128)


def expand(weights_path: str | Path) -> Incident:
    """Read the small file, fill the unused rows of the output head and of the target's embedding."""
    with safe_open(weights_path, framework="pt") as file:
        facts = json.loads(file.metadata()["incident"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    config = DraftConfig.from_json(facts["config"])
    d2t = torch.tensor(incident_d2t())
    draft_ids = tensors.pop("active_draft_ids")
    with _one_thread():
        lm_head = _fill(config.draft_vocab_size, config.hidden_size, _LM_HEAD_FILL, _FILL_SEED)
        embed = _fill(config.vocab_size, config.hidden_size, _EMBED_FILL, _FILL_SEED + 1)
    lm_head[draft_ids] = tensors.pop("active_lm_head")
    embed[draft_ids + d2t[draft_ids]] = tensors.pop("active_embed")
    sample = {name: tensors.pop(name) for name in _SAMPLE}
    return Incident(
        config=config,
        drafter=tensors | {"lm_head.weight": lm_head},
        d2t=d2t,
        embed_tokens=embed,
        sample=sample,
        prompt_length=int(facts["prompt_length"]),
        num_draft=int(facts["num_draft"]),
    )
