"""The parameters of a draft class at a config's sizes, and where its loader puts a name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypotree_probes.engines.rules import Rule, Slot
from hypotree_probes.engines.sizes import DraftSizes

_PREFIX = "model."
#: More layers or fused states than any draft has; a config that says so is not believed.
_MAX_REPEAT = 256


@dataclass(frozen=True)
class SizedSlot:
    """One tensor that the class takes: the parameter it fills, and its shape."""

    parameter: str
    shape: tuple[int | None, ...]
    """None where config.json does not tell, or another probe judges."""
    absent: str

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of `shape` would be taken."""
        return len(shape) == len(self.shape) and all(
            want in (None, have) for have, want in zip(shape, self.shape, strict=True)
        )


@dataclass(frozen=True)
class Filled:
    """Where a tensor goes: the slots by their accepted names, and the parameter."""

    slots: tuple[str, ...]
    """More than one if the file holds a stacked parameter already stacked."""
    parameter: str


@dataclass(frozen=True)
class SlotLayout:
    """All slots of a class, by the name under which a file's tensor is accepted."""

    rule: Rule
    slots: dict[str, SizedSlot]
    by_runtime: dict[str, str]
    """The slot for each unstacked runtime name (`model.` in front, lm_head apart)."""

    def fate(self, name: str) -> Filled | None:
        """What the loader fills with a tensor called `name`; None if there is nothing."""
        if any(part in name for part in self.rule.skipped):
            return None
        for candidate in _candidates(_renamed(name, self.rule), self.rule):
            if slot := self.by_runtime.get(candidate):
                return Filled((slot,), self.slots[slot].parameter)
            # Stacked on disk: the loaders of stacked layers take it whole.
            parts = tuple(s for s, sized in self.slots.items() if sized.parameter == candidate)
            if parts:
                return Filled(parts, candidate)
        return None

    def is_optional(self, name: str) -> bool:
        """Whether `name` is a slot that the target's own tensor can fill."""
        return name in self.slots and self.slots[name].absent == "shared"

    def excuse(self, name: str, facts: DraftSizes) -> str | None:
        """Why it is right that no tensor fills the slot `name`; None if it is not."""
        absent = self.slots[name].absent
        if absent == "shared":
            return None if facts.owns_embedding else "shared with the target"
        if absent == "head":
            return _head_excuse(self.rule, facts)
        return {"unused": "not used on this layer", "tolerated": "no checkpoint has it"}.get(absent)


def layout_of(rule: Rule, facts: DraftSizes) -> SlotLayout:
    """The slots of `rule`'s class at the sizes of `facts`."""
    slots: dict[str, SizedSlot] = {}
    for slot in rule.slots:
        if _exists(slot, facts):
            for name, is_first in _names(slot, rule, facts):
                shape = tuple(facts.size(symbol, is_first=is_first) for symbol in slot.shape)
                slots[name] = SizedSlot(_stacked(_runtime(name), rule), shape, slot.absent)
    return SlotLayout(rule, slots, {_runtime(name): name for name in slots})


def _exists(slot: Slot, facts: DraftSizes) -> bool:
    is_on = not slot.when or bool(facts.switches.intersection(slot.when))
    return is_on and not facts.switches.intersection(slot.unless)


def _names(slot: Slot, rule: Rule, facts: DraftSizes) -> Iterator[tuple[str, bool]]:
    """The slot's names, one for each layer or fused state; whether it is on the first layer."""
    if "{aux}" in slot.name:
        count = facts.aux if rule.reads_top_aux_ids else facts.aux_nested
        for index in range(min(count, _MAX_REPEAT)):
            yield slot.name.replace("{aux}", str(index)), True
    elif "{layer}" in slot.name:
        for index in range(min(facts.layers, _MAX_REPEAT)):
            is_first = index == 0
            if slot.only in ("", "first" if is_first else "later"):
                layer = rule.layer.replace("{n}", str(index))
                yield slot.name.replace("{layer}", layer), is_first
    else:
        yield slot.name, True


def _runtime(name: str) -> str:
    return name if name.startswith("lm_head") else _PREFIX + name


def _stacked(runtime: str, rule: Rule) -> str:
    for part, whole in rule.stacked:
        if part in runtime:
            return runtime.replace(part, whole)
    return runtime


def _renamed(name: str, rule: Rule) -> str:
    for old, new in rule.rename_inside:
        name = name.replace(old, new)
    for old, new in rule.rename_start:
        name = new + name.removeprefix(old) if name.startswith(old) else name
    return name


def _candidates(name: str, rule: Rule) -> tuple[str, ...]:
    """The runtime names that the loader tries, in order."""
    if rule.prefix == "as-is-then-model":
        return (name, _PREFIX + name)
    return (name,) if "lm_head" in name else (_PREFIX + name,)


def _head_excuse(rule: Rule, facts: DraftSizes) -> str | None:
    """Why lm_head may be absent; the reduced head of another vocabulary is no replacement."""
    if takes_target_head(rule, facts):
        return "draft_vocab_size is null, so the engine takes the target's head"
    if rule.absent_head == "target" and "reduced" not in facts.switches:
        return "shared with the target, whose vocabulary is the draft's"
    return None


def takes_target_head(rule: Rule, facts: DraftSizes) -> bool:
    """Whether the engine replaces the head by the target's, whatever the file holds."""
    is_unset = "draft_vocabulary" not in facts.switches
    is_asked = facts.has_draft_vocabulary or not rule.needs_draft_vocabulary
    return rule.absent_head == "random" and rule.null_head == "target" and is_unset and is_asked
