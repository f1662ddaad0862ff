"""Sizes that config.json and the tensors both tell, side by side.

Source: facts/eagle3.md sections 1, 2 and 6 (shapes of a one-layer Llama draft; every producer's
`len(d2t) == draft_vocab_size == lm_head rows`). Packed weights have other shapes and are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hypotree_probes.eagle3.draft import find_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypotree.artifact.checkpoint import Checkpoint

_DENSE: Final = frozenset({"BF16", "F16", "F32", "F64", "F8_E4M3", "F8_E5M2"})
#: Latent (DeepSeek) and gated (Qwen3-Next) attention have projections of other widths.
_PLAIN_ATTENTION: Final = frozenset({"llama", "qwen2", "qwen3", "mistral"})
_LAYERS: Final = ("midlayer.", "layers.0.")


@dataclass(frozen=True)
class Size:
    """One size as the config and as a tensor tell it."""

    field: str
    claimed: int
    tensor: str
    there: int

    @property
    def agrees(self) -> bool:
        """Whether both tell the same."""
        return self.claimed == self.there

    def words(self) -> str:
        """Both sides of a disagreement."""
        return f"{self.field} says {self.claimed}, {self.tensor} has {self.there}"


@dataclass(frozen=True)
class VocabularySizes:
    """Everything that tells how large the draft vocabulary is; None where it is not there."""

    claimed: int | None
    is_null: bool
    """Whether the config has the field, with null in it."""
    whole: int | None
    head: tuple[str, int] | None
    map_length: tuple[str, int] | None

    @property
    def tensors(self) -> tuple[tuple[str, int], ...]:
        """What the tensors say."""
        return tuple(said for said in (self.head, self.map_length) if said)


def layer_config(config: Mapping[str, object]) -> Mapping[str, object]:
    """Where the decoder's fields stand: speculators nests them."""
    nested = config.get("transformer_layer_config")
    return nested if isinstance(nested, dict) else config


def integer(place: Mapping[str, object], name: str) -> int | None:
    """A field that is a whole number, None for anything else."""
    value = place.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def vocabulary_sizes(draft: Checkpoint) -> VocabularySizes:
    """The draft vocabulary by the config, the head and the map."""
    config = draft.config()
    return VocabularySizes(
        claimed=integer(config, "draft_vocab_size"),
        is_null="draft_vocab_size" in config and config["draft_vocab_size"] is None,
        whole=integer(layer_config(config), "vocab_size"),
        head=_axis(draft, "lm_head.weight", 0),
        map_length=_axis(draft, "d2t", 0),
    )


def layer_sizes(draft: Checkpoint) -> list[Size]:
    """Every size of the decoder layer that both tell."""
    place = layer_config(draft.config())
    hidden, heads = integer(place, "hidden_size"), integer(place, "num_attention_heads")
    shared = integer(place, "num_key_value_heads") or heads
    width = integer(place, "head_dim") or (hidden // heads if hidden and heads else None)
    wanted: list[tuple[str, int | None, str, int]] = [
        ("hidden_size", hidden, "norm.weight", 0),
        ("hidden_size", hidden, "lm_head.weight", 1),
        ("hidden_size", hidden, "fc.weight", 0),
        ("intermediate_size", integer(place, "intermediate_size"), "mlp.gate_proj.weight", 0),
        ("num_attention_heads x head_dim", _times(heads, width), "self_attn.q_proj.weight", 0),
        ("num_key_value_heads x head_dim", _times(shared, width), "self_attn.k_proj.weight", 0),
        ("vocab_size", integer(place, "vocab_size"), "embed_tokens.weight", 0),
    ]
    found = []
    is_plain = place.get("model_type", "llama") in _PLAIN_ATTENTION
    for field, claimed, suffix, axis in wanted:
        there = _axis(draft, suffix, axis) if is_plain or "heads" not in field else None
        if claimed is not None and there is not None:
            found.append(Size(field, claimed, *there))
    return found


def _times(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one * other


def _axis(draft: Checkpoint, suffix: str, axis: int) -> tuple[str, int] | None:
    """Name and one extent of a dense tensor (a map may be of any integers)."""
    names = (suffix, *(layer + suffix for layer in _LAYERS))
    key = next((k for name in names if (k := _exact(draft, name))), None)
    layout = draft.layout(key) if key else None
    if key is None or layout is None or len(layout.shape) <= axis:
        return None
    is_map = suffix == "d2t"
    return (key, layout.shape[axis]) if is_map or layout.dtype in _DENSE else None


def _exact(draft: Checkpoint, name: str) -> str | None:
    """`norm.weight` is the last norm, not `midlayer.hidden_norm.weight`: bare or below `model.`."""
    if name in {"norm.weight", "fc.weight"}:
        return next((k for k in (name, f"model.{name}") if k in draft.names()), None)
    return find_tensor(draft, name)
