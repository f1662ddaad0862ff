"""Find the prefix that was written wrongly: unused tensors that are the unwritten parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypotree_probes.engines.layout import SlotLayout

#: `weight` alone is no likeness; `norm.weight` is.
_MIN_COMMON = 2

Prefixes = tuple[str, str]


@dataclass(frozen=True)
class Renaming:
    """Old to new names; ambiguous if two tensors claim one slot equally well."""

    names: Mapping[str, str]
    is_ambiguous: bool = False


def renames(
    unused: Sequence[str],
    lost: Sequence[str],
    shapes: Mapping[str, tuple[int, ...]],
    layout: SlotLayout,
) -> Renaming:
    """The prefix changes of unused tensors that fill whole parameters; empty if there are none.

    A change of prefix is believed by how many slots it fills: one wrong prefix
    explains a whole layer, a chance likeness explains one tensor.
    """
    claims = _claims(unused, lost, shapes, layout)
    weight = Counter(prefixes for found in claims.values() for prefixes in found)
    chosen: dict[str, str] = {}
    for slot, found in claims.items():
        best = max(weight[prefixes] for prefixes in found)
        likely = {name for prefixes, name in found.items() if weight[prefixes] == best}
        if len(likely) > 1:
            return Renaming({}, is_ambiguous=True)
        chosen[slot] = likely.pop()
    whole = _whole(chosen, lost, layout)
    names = {old: slot for slot, old in chosen.items() if slot in whole}
    return Renaming(names | _riders(names, unused, layout))


def _claims(
    unused: Sequence[str],
    lost: Sequence[str],
    shapes: Mapping[str, tuple[int, ...]],
    layout: SlotLayout,
) -> dict[str, dict[Prefixes, str]]:
    """For each lost slot that an unused tensor fits: the prefix change, and the tensor."""
    claims: dict[str, dict[Prefixes, str]] = {}
    for slot in lost:
        for name in unused:
            prefixes = _prefixes(name, slot)
            if prefixes and layout.slots[slot].fits(shapes[name]):
                claims.setdefault(slot, {})[prefixes] = name
    return claims


def _prefixes(name: str, slot: str) -> Prefixes | None:
    """What stands before the longest common end of two dotted names, if they are alike."""
    ours, theirs = name.split("."), slot.split(".")
    common = 0
    while common < min(len(ours), len(theirs)) and ours[-1 - common] == theirs[-1 - common]:
        common += 1
    if common < _MIN_COMMON:
        return None
    return ".".join(ours[: len(ours) - common]), ".".join(theirs[: len(theirs) - common])


def _whole(chosen: Mapping[str, str], lost: Sequence[str], layout: SlotLayout) -> set[str]:
    """The slots of `chosen` whose parameter would be complete."""
    partial = {layout.slots[slot].parameter for slot in lost if slot not in chosen}
    return {slot for slot in chosen if layout.slots[slot].parameter not in partial}


def _riders(names: Mapping[str, str], unused: Sequence[str], layout: SlotLayout) -> dict[str, str]:
    """Other unused tensors that bear the same wrong prefix, d2t among them."""
    found: dict[str, str] = {}
    changes = {_prefixes(old, new) for old, new in names.items()} - {None}
    for old, new in (change for change in changes if change):
        if old and not new:
            for name in unused:
                bare = name.removeprefix(f"{old}.")
                is_wanted = bare == "d2t" or layout.is_optional(bare)
                if bare != name and is_wanted and name not in names:
                    found[name] = bare
    return found
