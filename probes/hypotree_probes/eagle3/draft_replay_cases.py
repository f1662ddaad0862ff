"""A drafter that wrote its own sample, so that all of it is accepted; and the same, broken.

Weights are seeded and small; no model is trained. The record is grown chain by chain: what the
drafter proposes is what the target is made to have said, then one token that it did not propose.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hypotree.artifact.tensor import TensorValue
from hypotree.probe.api import Case
from hypotree_probes.eagle3.acceptance_verdicts import AT_FLOOR, COLLAPSE, NOT_EXERCISED
from hypotree_probes.planting import ids, plant_checkpoint, safetensors_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

H, V, DV, STEPS, LENGTH = 16, 96, 40, 4, 48
_CONFIG: Final[dict[str, object]] = {
    "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": H,
    "intermediate_size": 24, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "vocab_size": V, "draft_vocab_size": DV,
}  # fmt: skip


@lru_cache(maxsize=2)
def recorded(depth: int = STEPS) -> tuple[dict[str, Any], Any, Any]:
    """Weights (embedding included), aux states [T, 3H] and tokens [T], `depth` of a chain right."""
    import torch

    from hypotree_probes.eagle3.reference import DraftConfig, Drafter, draft_chains

    draw = torch.Generator().manual_seed(11)
    weights = {name: torch.randn(shape, generator=draw) * scale for name, shape, scale in _shapes()}
    weights |= {name: torch.ones(H) for name in _norms()}
    drafter = Drafter(weights, DraftConfig.from_json(_CONFIG), weights["embed_tokens.weight"])
    states = torch.randn(LENGTH, 3 * H, generator=draw)
    tokens = torch.randint(V, (2,), generator=draw)
    while len(tokens) < LENGTH:
        chain: list[Tensor] = []

        def greedy(_: int, logits: Tensor, chain: list[Tensor] = chain) -> Tensor:
            chain.append(2 * logits.argmax(-1))
            return chain[-1]

        draft_chains(drafter, drafter.fuse(states[: len(tokens) - 1]), tokens[1:], STEPS, greedy)
        odd = 2 * torch.randint(V // 2, (1,), generator=draw) + 1  # no draft id leads to an odd one
        tokens = torch.cat([tokens, *(step[-1:] for step in chain[:depth]), odd])
    return weights, states, tokens[:LENGTH]


def _shapes() -> list[tuple[str, tuple[int, ...], float]]:
    layer = "midlayer."
    return [
        ("fc.weight", (H, 3 * H), 0.2),
        (f"{layer}self_attn.q_proj.weight", (16, 2 * H), 0.2),
        (f"{layer}self_attn.k_proj.weight", (8, 2 * H), 0.2),
        (f"{layer}self_attn.v_proj.weight", (8, 2 * H), 0.2),
        (f"{layer}self_attn.o_proj.weight", (H, 16), 0.3),
        (f"{layer}mlp.gate_proj.weight", (24, H), 0.3),
        (f"{layer}mlp.up_proj.weight", (24, H), 0.3),
        (f"{layer}mlp.down_proj.weight", (H, 24), 0.3),
        ("lm_head.weight", (DV, H), 0.5),
        ("embed_tokens.weight", (V, H), 1.0),
    ]


def _norms() -> list[str]:
    inner = ("input_layernorm", "hidden_norm", "post_attention_layernorm")
    return ["norm.weight", *(f"midlayer.{name}.weight" for name in inner)]


def plant_replay(
    folder: Path,
    *,
    d2t: list[int] | None = None,
    config: Mapping[str, object] | None = None,
    length: int = LENGTH,
    depth: int = STEPS,
) -> dict[str, str]:
    """The draft and its sample, with the map, some fields, the length or the depth as given."""
    weights, states, tokens = recorded(depth)
    tensors = {name: _stored(value) for name, value in weights.items()}
    tensors["d2t"] = ids(d2t if d2t is not None else list(range(DV)))  # target id = 2 x draft id
    draft = plant_checkpoint(folder, tensors, {**_CONFIG, **(config or {})})
    sample = {
        "input_ids": ids(tokens[:length].tolist()),
        "aux_hidden_states": _stored(states[:length]),
        "hidden_states": _stored(states[:length, -H:]),
    }
    path = folder / "sample.safetensors"
    path.write_bytes(safetensors_bytes(sample))
    return {"draft": draft, "sample": str(path)}


def _stored(value: Any) -> TensorValue:
    return TensorValue("F32", tuple(value.shape), value.contiguous().numpy().tobytes())


def _healthy(folder: Path) -> Mapping[str, str]:
    return plant_replay(folder)


def _planted(**broken: Any) -> Callable[[Path], Mapping[str, str]]:
    return lambda folder: plant_replay(folder, **broken)


#: The record's first chain starts at its first token.
_START: Final = {"start": 0}

CASES: Final = (
    Case(AT_FLOOR, _planted(d2t=[1] * DV), _healthy, _START, report="a map that leads nowhere"),
    Case(
        NOT_EXERCISED, _planted(length=5), _healthy, _START, report="N5: nothing could be drafted"
    ),
    Case(
        COLLAPSE,
        _planted(depth=1),
        _healthy,
        _START,
        report="only the first token of a chain is what the target says",
    ),
)
