"""One rank, and what of an engine needs no torch to be played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final

GROUP: Final = SimpleNamespace(
    is_first_rank=True, is_last_rank=True, world_size=1, rank=0, rank_in_group=0, local_rank=0
)

#: Plain functions that are cut out of the engine's own source.
SLICED: Final = frozenset({
    "add_prefix", "default_weight_loader", "get_layer_id",
    # vLLM
    "supports_kw", "cdiv", "get_pp_indices", "AutoWeightsLoader", "WeightsMapper",
})  # fmt: skip


def stand_ins(package: str) -> Callable[[], Mapping[str, Any]]:
    """The stand-ins; torch is imported at the first question, which a setter seldom asks."""

    @lru_cache(maxsize=1)
    def get() -> Mapping[str, Any]:
        module = import_module("hypotree_probes.engines.harness.environment")
        found: Mapping[str, Any] = module.stand_ins_of(package)
        return found

    return get
