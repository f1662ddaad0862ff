"""What an engine's constructor would see in a draft's config.json: sizes and switches.

Engines build their parameters from a flat config. speculators nests the decoder's
fields under `transformer_layer_config`; people lift them up by hand for SGLang, and
vLLM does it on load (vllm 0.33.0 transformers_utils/configs/speculators/base.py), so
they are lifted here, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypotree_probes.eagle3.draft import draft_facts

_NESTED = ("transformer_layer_config", "text_config", "llm_config", "language_config")
_SWITCHES = (
    "attention_bias", "bias", "fc_norm", "mlp_bias", "norm_before_fc", "use_aux_norm",
)  # fmt: skip


@dataclass(frozen=True)
class DraftSizes:
    """Sizes by the names that rule files use for them, and the switches that are on."""

    architecture: str
    """As rule files name it: `architectures[0]`, or `speculators:<model_type>`."""
    layers: int
    aux: int
    """How many states the fusion joins; engines that read nested ids only see `aux_nested`."""
    aux_nested: int
    sizes: Mapping[str, int]
    """What config.json does not say is not in here."""
    switches: frozenset[str]
    owns_embedding: bool
    """Whether the draft's width differs from the target's, so that it cannot share embeddings."""
    has_draft_vocabulary: bool
    """Whether `draft_vocab_size` is there at all, be it null."""
    is_quantised: bool

    def size(self, symbol: str, *, is_first: bool = True) -> int | None:
        """The number behind a shape's symbol; None if config.json does not tell."""
        if symbol == "layer_input":
            hidden = self.sizes.get("hidden")
            return None if hidden is None else hidden * (2 if is_first else 1)
        return self.sizes.get(symbol)


def draft_sizes(config: Mapping[str, object]) -> DraftSizes:
    """The sizes of one config.json; a field of the wrong type counts as not given."""
    flat = _flatten(config)
    facts = draft_facts(config)
    aux = facts.width_parts()
    is_nested_only = facts.num_aux is not None or facts.aux_ids_field.startswith("eagle_config")
    target = facts.target_hidden_size
    return DraftSizes(
        architecture=_architecture(facts.architecture, flat, is_speculators=facts.is_speculators),
        layers=_integer(flat, "num_hidden_layers") or 1,
        aux=aux,
        aux_nested=aux if is_nested_only else 3,
        sizes=_sizes(flat, target, facts.draft_vocabulary),
        switches=_switches(flat, facts.draft_vocabulary, use_aux=facts.use_aux is not False),
        owns_embedding=target is not None and target != facts.hidden_size,
        has_draft_vocabulary="draft_vocab_size" in flat,
        is_quantised=bool(flat.get("quantization_config")),
    )


def _flatten(config: Mapping[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for key in _NESTED:
        nested = config.get(key)
        flat |= nested if isinstance(nested, dict) else {}
    eagle = config.get("eagle_config")
    # SGLang and vLLM look for this one switch in eagle_config first.
    before_fc = eagle.get("norm_before_fc") if isinstance(eagle, dict) else None
    own = {key: value for key, value in config.items() if value is not None or key not in flat}
    return flat | own | ({} if before_fc is None else {"norm_before_fc": before_fc})


def _architecture(name: str, flat: Mapping[str, object], *, is_speculators: bool) -> str:
    kind = flat.get("model_type")
    return f"speculators:{kind if isinstance(kind, str) else 'llama'}" if is_speculators else name


def _sizes(
    flat: Mapping[str, object], target: int | None, draft_vocabulary: int | None
) -> dict[str, int]:
    hidden, heads = _integer(flat, "hidden_size"), _integer(flat, "num_attention_heads")
    kv_heads = _integer(flat, "num_key_value_heads") or heads
    per_head = _integer(flat, "head_dim") or (hidden // heads if hidden and heads else None)
    wide = "intermediate_size_mlp" if flat.get("model_type") == "llama4_text" else ""
    vocabulary = _integer(flat, "vocab_size")
    found = {
        "hidden": hidden,
        "target": target or hidden,
        "head_dim": per_head,
        "query": per_head * heads if per_head and heads else None,
        "kv": per_head * kv_heads if per_head and kv_heads else None,
        "intermediate": _integer(flat, wide) or _integer(flat, "intermediate_size"),
        "vocabulary": vocabulary,
        "draft_vocabulary": draft_vocabulary or vocabulary,
    }
    return {name: value for name, value in found.items() if value is not None}


def _switches(
    flat: Mapping[str, object], draft_vocabulary: int | None, *, use_aux: bool
) -> frozenset[str]:
    found = {
        "use_aux": use_aux,
        "tied": flat.get("tie_word_embeddings") is True,
        "draft_vocabulary": draft_vocabulary is not None,
        "reduced": draft_vocabulary not in (None, _integer(flat, "vocab_size")),
    }
    found |= {name: bool(flat.get(name)) for name in _SWITCHES}
    return frozenset(name for name, is_on in found.items() if is_on)


def _integer(flat: Mapping[str, object], name: str) -> int | None:
    value = flat.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
