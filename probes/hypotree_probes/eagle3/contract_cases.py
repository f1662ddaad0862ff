"""Planted contradictions and their healthy twins: a draft of hidden size 16."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from hypotree.probe.api import Case
from hypotree_probes.eagle3.contract_verdicts import ROPE, TARGET, TENSORS, TIED, VOCABULARY
from hypotree_probes.planting import blank, ids, plant_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

H, V, DV = 16, 64, 8
_CONFIG: Final[dict[str, object]] = {
    "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": H,
    "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
    "vocab_size": V, "draft_vocab_size": DV, "tie_word_embeddings": False,
    "rope_theta": 10000.0, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "target_hidden_size": H,
}  # fmt: skip


def plant_draft(
    folder: Path,
    config: Mapping[str, object] | None = None,
    *,
    head: int = DV,
    map_length: int = DV,
) -> dict[str, str]:
    """A draft whose tensors have the config's sizes but for what is given."""
    tensors = {
        "d2t": ids([0] * map_length),
        "fc.weight": blank("BF16", H, 3 * H),
        "midlayer.hidden_norm.weight": blank("BF16", 3),
        "midlayer.self_attn.q_proj.weight": blank("BF16", 16, 2 * H),
        "midlayer.self_attn.k_proj.weight": blank("BF16", 8, 2 * H),
        "midlayer.mlp.gate_proj.weight": blank("BF16", 32, H),
        "norm.weight": blank("BF16", H),
        "lm_head.weight": blank("BF16", head, H),
    }
    merged = {**_CONFIG, **(config or {})}
    kept = {key: value for key, value in merged.items() if value != "absent"}
    return {"draft": plant_checkpoint(folder, tensors, kept)}


def plant_target(folder: Path, hidden: int) -> dict[str, str]:
    """A multimodal target's config."""
    target = folder / "target"
    target.mkdir()
    text = json.dumps({"text_config": {"hidden_size": hidden, "vocab_size": V}})
    (target / "config.json").write_text(text)
    return {"target": str(target)}


def _with(**config: object) -> Callable[[Path], Mapping[str, str]]:
    return lambda folder: plant_draft(folder, config)


CASES: Final = (
    Case(VOCABULARY, lambda f: plant_draft(f, head=5, map_length=5), _with(), report="F04, EAGLE#248"),
    Case(VOCABULARY, _with(draft_vocab_size=None), lambda f: plant_draft(
        f, {"draft_vocab_size": None}, head=V, map_length=V), report="null: the target's head"),
    Case(VOCABULARY, lambda f: plant_draft(f, map_length=7), _with()),
    Case(TENSORS, _with(num_key_value_heads=4), _with(), report="K14: edited by hand"),
    Case(TENSORS, _with(hidden_size=32), _with()),
    Case(TIED, _with(tie_word_embeddings=True), _with()),
    Case(ROPE, _with(rope_theta=1e6), _with(), report="F20's file, with both schemas"),
    Case(
        TARGET,
        lambda f: {**plant_draft(f), **plant_target(f, 2 * H)},
        lambda f: {**plant_draft(f), **plant_target(f, H)},
    ),
)  # fmt: skip
