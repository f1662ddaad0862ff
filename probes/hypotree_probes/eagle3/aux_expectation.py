"""Which physical layers a draft's ids stand for, by the convention of whoever trained it.

Source (facts/eagle3.md section 5): speculators counts layer inputs (id = j + 1), SpecForge and
ModelOpt count outputs (id = j). What an engine makes of the same ids is aux-layers' matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypotree.errors import MisuseError
from hypotree_probes.eagle3.draft import draft_facts

if TYPE_CHECKING:
    from hypotree.artifact.checkpoint import Checkpoint


def expected_layers(draft: Checkpoint | None, declared: object) -> tuple[tuple[int, ...], str]:
    """Layer numbers j of the states S_j, and who says so; empty if nobody does."""
    if isinstance(declared, str) and declared:
        return _declared(declared), "the parameter `layers`"
    if isinstance(declared, int) and not isinstance(declared, bool):
        return (declared,), "the parameter `layers`"
    facts = draft_facts(draft.config()) if draft else None
    if facts is None or not facts.aux_ids:
        return (), ""
    if facts.is_speculators:
        return tuple(
            sorted(i - 1 for i in facts.aux_ids)
        ), f"{list(facts.aux_ids)} as speculators counts"
    return tuple(sorted(facts.aux_ids)), f"{list(facts.aux_ids)} as SpecForge and ModelOpt count"


def _declared(text: str) -> tuple[int, ...]:
    words = text.replace(",", " ").split()
    if not words or not all(word.isdecimal() and len(word) < 6 for word in words):
        raise MisuseError("comparing states", f"layers is {text!r}", "for example layers=1,13,24")
    return tuple(int(word) for word in words)
