"""What a draft checkpoint says about itself, whoever saved it.

Sources (facts): speculators 0.9.0 nests the decoder's fields under
`transformer_layer_config` and writes aux ids at top level; SpecForge 0.2.0 and
ModelOpt write a flat llama config with `eagle_config`; multimodal targets nest
theirs under `text_config`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypotree.artifact.checkpoint import Checkpoint

_NESTED = ("transformer_layer_config", "text_config", "llm_config", "language_config")


@dataclass(frozen=True)
class DraftFacts:
    """Fields of a draft (or target) config.json; None where it does not say."""

    vocabulary: int | None
    draft_vocabulary: int | None
    hidden_size: int | None
    target_hidden_size: int | None
    aux_ids: tuple[int, ...] | None
    aux_ids_field: str
    """Where the aux ids stand: nested for SGLang, at top level for vLLM and speculators."""
    num_aux: int | None
    """`num_aux_hidden_states` if given."""
    use_aux: bool | None
    architecture: str
    is_speculators: bool

    def width_parts(self) -> int:
        """How many states fc joins: as SGLang 0.5.23 counts (models/llama_eagle3.py:151-167)."""
        if self.num_aux is not None:
            return self.num_aux
        return len(self.aux_ids) if self.aux_ids else 3


def draft_facts(config: Mapping[str, object]) -> DraftFacts:
    """The facts of one config.json; a field of the wrong type counts as not given."""
    eagle = _mapping(config.get("eagle_config"))
    nested, top = (
        "eagle_config.eagle_aux_hidden_state_layer_ids",
        "eagle_aux_hidden_state_layer_ids",
    )
    inner = _ids(eagle.get(top))
    ids, field = (inner, nested) if inner is not None else (_ids(config.get(top)), top)
    use_aux = eagle.get("use_aux_hidden_state", config.get("use_aux_hidden_state"))
    return DraftFacts(
        vocabulary=_field(config, "vocab_size"),
        draft_vocabulary=_integer(config.get("draft_vocab_size")),
        hidden_size=_field(config, "hidden_size"),
        target_hidden_size=_integer(config.get("target_hidden_size")),
        aux_ids=ids,
        aux_ids_field=field,
        num_aux=_integer(config.get("num_aux_hidden_states")),
        use_aux=use_aux if isinstance(use_aux, bool) else None,
        architecture=_architecture(config),
        is_speculators="speculators_model_type" in config or "speculators_config" in config,
    )


def find_tensor(checkpoint: Checkpoint, name: str) -> str | None:
    """The key of `name` in the file, bare or behind any prefix; the bare one first."""
    return checkpoint.find(name)


def _field(config: Mapping[str, object], name: str) -> int | None:
    places = (config, *(_mapping(config.get(key)) for key in _NESTED))
    return next((v for place in places if (v := _integer(place.get(name))) is not None), None)


def _architecture(config: Mapping[str, object]) -> str:
    names = config.get("architectures")
    return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _ids(value: object) -> tuple[int, ...] | None:
    if isinstance(value, list) and value and all(_integer(item) is not None for item in value):
        return tuple(value)
    return None
