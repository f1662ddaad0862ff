"""A target of six small layers, and captures of it that are right or go wrong in one way each."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from hypotree.artifact.tensor import TensorValue
from hypotree.probe.api import Case
from hypotree_probes.eagle3.aux_identity import CONTENT
from hypotree_probes.planting import blank, ids, plant_checkpoint, safetensors_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from torch import Tensor

    from hypotree_probes.eagle3.target_states import LayerStates, TargetStates

H, V, LAYERS, LENGTH = 32, 64, 6, 24
IDS: Final = (1, 2, 4)
_CONFIG: Final[dict[str, object]] = {
    "model_type": "llama", "hidden_size": H, "num_hidden_layers": LAYERS, "vocab_size": V,
    "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
}  # fmt: skip


def stored(value: Any) -> TensorValue:
    """A float32 tensor as it is stored."""
    flat = value.float().contiguous().numpy().tobytes()
    return TensorValue("F32", tuple(value.shape), flat)


@lru_cache(maxsize=1)
def weights() -> dict[str, Tensor]:
    """The target's tensors, seeded."""
    import torch

    draw = torch.Generator().manual_seed(5)
    shapes = {"q_proj": (H, H), "k_proj": (H // 2, H), "v_proj": (H // 2, H), "o_proj": (H, H)}
    found = {"model.embed_tokens.weight": torch.randn(V, H, generator=draw)}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        for name, shape in shapes.items():
            found[f"{at}self_attn.{name}.weight"] = torch.randn(shape, generator=draw) * 0.25
        for name, shape in (("gate", (2 * H, H)), ("up", (2 * H, H)), ("down", (H, 2 * H))):
            found[f"{at}mlp.{name}_proj.weight"] = torch.randn(shape, generator=draw) * 0.25
        found[f"{at}input_layernorm.weight"] = torch.rand(H, generator=draw) + 0.5
        found[f"{at}post_attention_layernorm.weight"] = torch.rand(H, generator=draw) + 0.5
    found["model.norm.weight"] = torch.rand(H, generator=draw) + 0.5
    return found


def tokens() -> list[int]:
    """A text."""
    return [(7 * i + i * i) % V for i in range(LENGTH)]


def plant_target(folder: Path) -> dict[str, str]:
    """The target as a checkpoint."""
    tensors = {name: stored(value) for name, value in weights().items()}
    return {"target": plant_checkpoint(folder / "target", tensors, _CONFIG)}


def plant_draft(folder: Path) -> dict[str, str]:
    """A draft that was trained on the outputs of three layers."""
    config: dict[str, object] = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": list(IDS)}}
    tensors = {"fc.weight": blank("F32", H, 3 * H)}
    return {"draft": plant_checkpoint(folder, tensors, config)}


def states(folder: Path) -> TargetStates:
    """What the target's layers give out."""
    import torch

    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree_probes.eagle3.target_states import target_states

    target = Checkpoint(str(folder / "target" / "draft"))
    found = target_states(target, torch.tensor(tokens()), lambda *_: None)
    assert not isinstance(found, str)
    return found


Take = "Callable[[TargetStates, list[LayerStates]], list[Tensor]]"


def plant_capture(folder: Path, name: str, take: Any) -> str:
    """A sample file whose aux blocks `take` chooses from the states and the three right layers."""
    import torch

    found = states(folder)
    blocks = take(found, [found.layers[i] for i in IDS])
    path = folder / f"{name}.safetensors"
    path.write_bytes(
        safetensors_bytes({
            "input_ids": ids(tokens()),
            "aux_hidden_states": stored(torch.cat(blocks, dim=-1)),
            "hidden_states": stored(found.normed(found.layers[-1].whole)),
        })
    )  # fmt: skip
    return str(path)


def right(_: TargetStates, three: list[LayerStates]) -> list[Tensor]:
    """The outputs of the three layers."""
    return [layer.whole for layer in three]


def with_target(take: Any) -> Callable[[Path], Mapping[str, str]]:
    """A capture beside the target and the draft."""

    def plant(folder: Path) -> Mapping[str, str]:
        given = {**plant_target(folder), **plant_draft(folder)}
        return {**given, "sample": plant_capture(folder, "capture", take)}

    return plant


def with_capture(take: Any) -> Callable[[Path], Mapping[str, str]]:
    """A capture beside a right one."""

    def plant(folder: Path) -> Mapping[str, str]:
        plant_target(folder)
        truth = plant_capture(folder, "truth", right)
        return {"sample": plant_capture(folder, "capture", take), "truth": truth}

    return plant


def turned(_: TargetStates, three: list[LayerStates]) -> list[Tensor]:
    """All three in another basis."""
    import torch

    basis, _ = torch.linalg.qr(torch.randn(H, H, generator=torch.Generator().manual_seed(3)))
    return [layer.whole @ basis for layer in three]


CASES: Final = (
    Case(
        CONTENT,
        with_target(lambda _, three: [*(x.whole for x in three[:2]), three[2].last_part]),
        with_target(right),
        report="F08, vllm#50815: the last capture lacks the residual",
    ),
    Case(
        CONTENT,
        with_target(lambda found, _: [found.layers[i + 1].whole for i in IDS]),
        with_target(right),
        report="shifted by one layer: vllm#43671",
    ),
    Case(
        CONTENT,
        with_capture(lambda found, three: [found.normed(x.whole) for x in three]),
        with_capture(right),
        report="B12: after a norm",
    ),
    Case(
        CONTENT,
        with_capture(lambda _, three: [x.whole for x in (three[2], three[1], three[0])]),
        with_capture(lambda _, three: [x.whole.bfloat16() for x in three]),
        report="D11: in another order; bf16 instead of float32 is no fault",
    ),
    Case(CONTENT, with_capture(turned), with_capture(right), report="G: another basis"),
)
