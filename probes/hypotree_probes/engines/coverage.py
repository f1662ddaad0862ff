"""What an engine would do with every tensor of a checkpoint: pure, from names, shapes and a rule.

`ledger` follows the loader of the rule's class step by step (rename, skip, map, stack,
prefix), so it also tells which tensors the engine would really load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypotree_probes.engines.layout import Filled, SlotLayout, layout_of
from hypotree_probes.engines.renaming import renames
from hypotree_probes.engines.rules import Rule
from hypotree_probes.engines.sizes import DraftSizes

HEAD = "lm_head.weight"
_EMBEDDING = "embed_tokens.weight"

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Unwritten:
    """A parameter that keeps its start value, wholly or in part."""

    parameter: str
    missing: tuple[str, ...]
    """The tensors, by the names that the engine accepts, that would have filled it."""


@dataclass(frozen=True)
class Misshapen:
    """A tensor that would be loaded, and contradicts the sizes of config.json."""

    tensor: str
    shape: tuple[int, ...]
    wanted: tuple[int | None, ...]


@dataclass(frozen=True)
class Ledger:
    """Every tensor of the file and every parameter of the class, accounted for."""

    used: Mapping[str, str]
    """Tensor name to the parameter that it fills."""
    maps: tuple[str, ...]
    """Tensors taken for the draft-to-target map."""
    skipped: Mapping[str, str]
    """Tensors that the loader passes over and nobody misses, and why not."""
    dropped: tuple[str, ...]
    """Tensors that find no parameter."""
    unwritten: tuple[Unwritten, ...]
    """lm_head apart, which is `lacks_head`."""
    excused: Mapping[str, str]
    """Parameters that no tensor fills and that is right, and why."""
    misshapen: tuple[Misshapen, ...]
    lacks_head: bool
    parameters: int
    """How many parameters the class has at these sizes."""
    renames: Mapping[str, str]
    """Old to new names of dropped tensors that would fill unwritten parameters completely."""
    is_ambiguous: bool = False
    """Whether more than one renaming would, so that none is offered."""

    def parameters_renamed(self) -> int:
        """How many parameters the renaming would fill."""
        wanted = set(self.renames.values())
        head = int(self.lacks_head and HEAD in wanted)
        return head + sum(1 for gap in self.unwritten if wanted.issuperset(gap.missing))


def ledger(shapes: Shapes, rule: Rule, facts: DraftSizes) -> Ledger:
    """Account for every tensor of `shapes` under `rule`."""
    layout = layout_of(rule, facts)
    used, maps, skipped, dropped = _sort(shapes, rule, facts, layout)
    filled = {slot for fate in used.values() for slot in fate.slots}
    empty = [name for name in layout.slots if name not in filled]
    lost = [name for name in empty if layout.excuse(name, facts) is None]
    unused = [name for name in shapes if name not in used and name not in maps]
    renamed = renames(unused, lost, shapes, layout)
    return Ledger(
        used={name: fate.parameter for name, fate in used.items()},
        maps=maps,
        skipped=skipped,
        dropped=dropped,
        unwritten=_unwritten([name for name in lost if name != HEAD], layout),
        excused=_excused(empty, layout, facts),
        misshapen=_misshapen(shapes, used, layout),
        lacks_head=HEAD in lost,
        parameters=len({sized.parameter for sized in layout.slots.values()}),
        renames=renamed.names,
        is_ambiguous=renamed.is_ambiguous,
    )


def _sort(
    shapes: Shapes, rule: Rule, facts: DraftSizes, layout: SlotLayout
) -> tuple[dict[str, Filled], tuple[str, ...], dict[str, str], tuple[str, ...]]:
    used: dict[str, Filled] = {}
    maps: list[str] = []
    skipped: dict[str, str] = {}
    dropped: list[str] = []
    for name in shapes:
        fate = layout.fate(name)
        if is_map(name, rule, facts):
            maps.append(name)
        elif fate is not None:
            used[name] = fate
        elif reason := _why_skipped(name, shapes[name], rule, facts):
            skipped[name] = reason
        else:
            dropped.append(name)
    return used, tuple(maps), skipped, tuple(dropped)


def is_map(name: str, rule: Rule, facts: DraftSizes) -> bool:
    """Whether the loader takes `name` for the draft-to-target map."""
    if rule.map_when and not facts.switches.intersection(rule.map_when):
        return False
    if rule.map_name == "contains":
        return "d2t" in name
    last = name.rpartition(".")[2]
    return name == "d2t" if rule.map_name == "exact" else last == "d2t"


def _why_skipped(name: str, shape: tuple[int, ...], rule: Rule, facts: DraftSizes) -> str:
    """Why a tensor without a parameter is none that anybody misses; "" if it is missed."""
    if any(part in name for part in rule.skipped):
        return "the engine has no use for it"
    is_passed_over = rule.unexpected != "raises" and not facts.owns_embedding
    if name.endswith(_EMBEDDING) and is_passed_over:
        return "the engine takes the target's embeddings anyway"
    is_tied = "tied" in facts.switches and name == HEAD
    if is_tied and shape[:1] == (facts.size("vocabulary"),):
        return "tied: the engine takes the embeddings for the head"
    return ""


def _unwritten(lost: list[str], layout: SlotLayout) -> tuple[Unwritten, ...]:
    by_parameter: dict[str, list[str]] = {}
    for name in lost:
        by_parameter.setdefault(layout.slots[name].parameter, []).append(name)
    return tuple(Unwritten(parameter, tuple(names)) for parameter, names in by_parameter.items())


def _excused(empty: list[str], layout: SlotLayout, facts: DraftSizes) -> dict[str, str]:
    reasons = {name: layout.excuse(name, facts) for name in empty}
    return {layout.slots[name].parameter: why for name, why in reasons.items() if why is not None}


def _misshapen(
    shapes: Shapes, used: Mapping[str, Filled], layout: SlotLayout
) -> tuple[Misshapen, ...]:
    return tuple(
        Misshapen(name, shapes[name], layout.slots[fate.slots[0]].shape)
        for name, fate in used.items()
        # A stacked tensor's rows are a sum that the engine checks itself.
        if len(fate.slots) == 1 and not layout.slots[fate.slots[0]].fits(shapes[name])
    )
