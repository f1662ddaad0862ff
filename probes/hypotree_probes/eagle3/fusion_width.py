"""Decide `fusion.width-mismatch`: what fc takes against what the target can give.

Source (facts/eagle3.md section 3): every engine and trainer wants `n_aux * target hidden size`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.model.evidence import Finding, Locator, Table
from hypotree.model.verdict import Authority, Verdict
from hypotree_probes.eagle3.draft import DraftFacts, draft_facts
from hypotree_probes.eagle3.fusion import Fusion, parts_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree.probe.api import ProbeContext
    from hypotree_probes.eagle3.fusion_sights import Sight

MISMATCH: Final = "fusion.width-mismatch"


def target_width(target: Checkpoint | None) -> int | None:
    """The target's hidden size, nested configs included; None if it is not said."""
    return draft_facts(target.config()).hidden_size if target else None


def decide_width(fusion: Fusion, facts: DraftFacts, target: int | None) -> Finding:
    """The arithmetic, with the target's own width if there is one, else with the draft's word."""
    claimed = facts.target_hidden_size or facts.hidden_size
    width = target or claimed
    where = (Locator("draft", file=fusion.file, tensor=fusion.key),)
    if width is None:
        why = "neither the target nor the draft's config.json says how wide a hidden state is"
        return Finding(MISMATCH, Verdict.INCONCLUSIVE, Authority.NONE, why, where)
    authority = Authority.SOURCE_OF_TRUTH if target else Authority.HEURISTIC
    why, fits = _compare(fusion, facts, width)
    said = "hidden size by the target's config" if target else "hidden size by the draft's own word"
    verdict = Verdict.REFUTED if fits else Verdict.CONFIRMED
    truth = ("target",) if target else ()
    return Finding(MISMATCH, verdict, authority, f"{why} ({said})", where, truth)


def _compare(fusion: Fusion, facts: DraftFacts, width: int) -> tuple[str, bool]:
    parts = facts.width_parts()
    if facts.use_aux is False and fusion.takes == width:
        return f"fc takes {fusion.takes}, the one state that is handed over without capture", True
    sums = f"{parts} states by {parts_source(facts)} x {width} = {parts * width}"
    fits = fusion.takes == parts * width
    return f"fc takes {fusion.takes} {'=' if fits else 'but'} {sums}", fits


def show_widths(
    context: ProbeContext,
    fusion: Fusion,
    facts: DraftFacts,
    target: int | None,
    seen: Sequence[Sight],
) -> None:
    """Measures, and a table of what is wanted and what was handed over."""
    context.measure("fc_in_features", fusion.takes)
    shown = [sight for sight in seen if sight.width is not None]
    # What was seen on the running system comes before what an engine's version implies.
    for sight in shown[:1]:
        context.measure("observed_width", float(sight.width or 0))
    hidden = target or facts.target_hidden_size or facts.hidden_size
    rows: list[tuple[str, int | None, str]] = [
        ("fc takes", fusion.takes, f"{plain(fusion.key)} in {plain(fusion.file)}"),
        ("states joined", facts.width_parts(), "draft config"),
        ("target hidden size", hidden, "target config" if target else "draft config"),
    ]
    rows += [("handed over", sight.width, _place(sight)) for sight in shown]
    context.show(Table("Widths", ("what", "width", "where"), tuple(rows)))


def _place(sight: Sight) -> str:
    line = next((place.line for place in sight.locators if place.line is not None), None)
    return sight.source if line is None else f"{sight.source}, line {line}"
