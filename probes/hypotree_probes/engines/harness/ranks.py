"""One rank, and what of an engine needs no torch to be played."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final

GROUP: Final = SimpleNamespace(
    is_first_rank=True, is_last_rank=True, world_size=1, rank=0, rank_in_group=0, local_rank=0
)

#: Plain functions that are cut out of the engine's own source.
SLICED: Final = frozenset({"add_prefix", "default_weight_loader", "get_layer_id"})


def stand_ins() -> Mapping[str, Any]:
    """The stand-ins; torch is imported at the first question, which a setter seldom asks."""
    found: Mapping[str, Any] = import_module(
        "hypotree_probes.engines.harness.environment"
    ).STAND_INS
    return found
