"""The fusion layer: what `fc` takes, what it ought to take, and whether an engine feeds it.

Sources (facts/eagle3.md section 3): SGLang 0.5.23 models/llama_eagle3.py:151-167 builds
`fc: [hidden, n_aux * (target_hidden_size or hidden_size)]` and :238 runs it only if the
states are not already as wide as the embeddings; vLLM 0.33.0 counts the same way
(models/llama_eagle3.py:397-418).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree_probes.eagle3.draft import DraftFacts, find_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree.artifact.engine import Engine

#: First release known to read `eagle_config.use_aux_hidden_state`. SGLang: read in the wheels of
#: 0.5.7 (never mentions it) and 0.5.8 (model_executor/model_runner.py:336). vLLM: 0.33.0
#: (v1/spec_decode/llm_base_proposer.py:1674-1687); older ones were not looked at.
READS_FLAG_SINCE: Final = {"sglang": "0.5.8", "vllm": "0.33.0"}
#: Last release known not to read it; between the two nothing is known.
IGNORES_FLAG_UNTIL: Final = {"sglang": "0.5.7"}

FLAG: Final = "eagle_config.use_aux_hidden_state"
FLAG_AT_TOP: Final = "use_aux_hidden_state"
_FLOATS: Final = ("F", "BF")


@dataclass(frozen=True)
class Fusion:
    """The fusion layer of one file: its weight is [gives, takes]."""

    key: str
    file: str
    gives: int
    takes: int

    @property
    def narrows(self) -> bool:
        """Whether it joins more than one state, so that a single one cannot be its input."""
        return self.takes != self.gives


@dataclass(frozen=True)
class NoFusion:
    """Why there is no fusion layer to look at; `is_sound` if none is needed."""

    why: str
    is_sound: bool


def fusion_of(draft: Checkpoint, facts: DraftFacts) -> Fusion | NoFusion:
    """The fusion layer, or why there is none."""
    key = find_tensor(draft, "fc.weight")
    layout = draft.layout(key) if key else None
    where = draft.locate(key) if key else None
    if key is None or layout is None or where is None:
        return _absent(facts)
    if len(layout.shape) != 2 or not layout.dtype.startswith(_FLOATS):
        # A packed weight (4 bits in U8) has another shape than the layer it stands for.
        return NoFusion(
            f"{plain(key)} is {layout.dtype} {list(layout.shape)}: packed, or no layer",
            is_sound=False,
        )
    return Fusion(key, where[0], *layout.shape)


def _absent(facts: DraftFacts) -> NoFusion:
    if facts.use_aux is False:
        return NoFusion("no fc.weight, and use_aux_hidden_state is false: no need", is_sound=True)
    if facts.width_parts() == 1:
        return NoFusion("no fc.weight, and the head takes a single state: no need", is_sound=True)
    why = f"no fc.weight, though the head joins {facts.width_parts()} states"
    return NoFusion(f"{why} ({parts_source(facts)})", is_sound=False)


def parts_source(facts: DraftFacts) -> str:
    """Where the number of joined states comes from."""
    if facts.num_aux is not None:
        return "num_aux_hidden_states"
    return facts.aux_ids_field if facts.aux_ids else "the engines' default"


def flag_off_at(config: Mapping[str, object]) -> str:
    """The field that says use_aux_hidden_state is false; "" if none does."""
    eagle = config.get("eagle_config")
    if isinstance(eagle, dict) and "use_aux_hidden_state" in eagle:
        return FLAG if eagle["use_aux_hidden_state"] is False else ""
    return FLAG_AT_TOP if config.get(FLAG_AT_TOP) is False else ""


def obeys_flag(engine: Engine, field: str) -> bool | None:
    """Whether this engine's release reads the flag at `field`; None if that is not known."""
    from packaging.version import InvalidVersion, Version

    since, until = READS_FLAG_SINCE.get(engine.name), IGNORES_FLAG_UNTIL.get(engine.name)
    try:
        version = Version(engine.version())
    except InvalidVersion:
        return None
    if since and version >= Version(since):
        return field == FLAG  # both engines look below eagle_config only
    return False if until and version <= Version(until) else None


def engine_label(engine: Engine) -> str:
    """The engine as people call it."""
    return f"{engine.name} {engine.version() or 'of unknown version'}"
