"""A workload that the map does not know, and one that it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.probe.api import Case
from hypotree_probes.planting import blank, ids, plant_checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Eight draft ids for the even ids below 16, of a vocabulary of 64.
OFFSETS: Final = list(range(8))


def plant_workload(folder: Path, tokens: list[int]) -> Mapping[str, str]:
    """A draft of eight tokens and a text of these."""
    config = {"vocab_size": 64, "draft_vocab_size": 8, "hidden_size": 4}
    tensors = {"d2t": ids(OFFSETS), "lm_head.weight": blank("BF16", 8, 4)}
    path = folder / "corpus.jsonl"
    path.write_text(f'{{"input_ids": {tokens}}}\n')
    return {"draft": plant_checkpoint(folder, tensors, config), "tokens": str(path)}


CASES: Final = (
    Case(
        "d2t.low-coverage",
        lambda folder: plant_workload(folder, [17, 19, 21, 23] * 10),
        lambda folder: plant_workload(folder, [0, 2, 4, 6, 8, 10, 12, 14, 14, 33]),
        report="A10: a map counted on other text",
    ),
)
