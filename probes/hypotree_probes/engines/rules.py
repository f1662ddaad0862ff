"""Which parameters an engine's draft class has, and what its loader does with each name.

The rules are data (rules/*.yaml), each read from the released wheels it names. They
answer for a range of releases only; what lies outside is answered by the nearest rule
and marked as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from hypotree.digest import Digest
from hypotree.model.wire import convert

if TYPE_CHECKING:
    from packaging.version import Version

RULE_FILES: Final = {"sglang": "sglang.yaml", "vllm": "vllm.yaml"}

Unexpected = Literal["silent", "warned", "raises"]


class Slot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tensor of a checkpoint file that fills a parameter, or a part of a stacked one."""

    name: str
    """As a file names it; `{layer}` and `{aux}` stand for each layer and each fused state."""
    shape: tuple[str, ...]
    """Symbols of `DraftSizes.sizes`; `any` is not compared."""
    only: Literal["", "first", "later"] = ""
    """On which decoder layers it exists."""
    when: tuple[str, ...] = ()
    """It exists if one of these switches is on; empty means always."""
    unless: tuple[str, ...] = ()
    """It does not exist if one of these switches is on."""
    absent: Literal["fault", "shared", "unused", "tolerated", "head"] = "fault"
    """What it means if no tensor fills it."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One class of one engine over a range of releases."""

    name: str
    versions: str
    architectures: tuple[str, ...]
    model_class: str
    file: str
    """The model file below the engine's package."""
    lines: str
    """What of it was read, and in which release the line numbers hold."""
    read: dict[str, str]
    """sha256 of that file in each release that was read: the ground under this rule."""
    layer: str
    """What the module tree calls a decoder layer; `{n}` is its number."""
    slots: tuple[Slot, ...]
    stacked: tuple[tuple[str, str], ...]
    """In order: the part of a file's name, and what replaces it in the parameter's."""
    prefix: Literal["as-is-then-model", "model-unless-lm-head"]
    unexpected: Unexpected
    unexpected_stacked: Unexpected
    """The same for names that the stacking table matches."""
    max_layers: int | None = None
    rename_inside: tuple[tuple[str, str], ...] = ()
    rename_start: tuple[tuple[str, str], ...] = ()
    map_name: Literal["contains", "last", "exact"] = "contains"
    """How a name must hold `d2t` to be taken for the map."""
    map_when: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Parts of names that the loader passes over and nobody misses."""
    silent_suffixes: tuple[str, ...] = ()
    """Ends of unexpected names that never raise."""
    reads_top_aux_ids: bool = False
    null_head: Literal["target", "stops"] = "target"
    """What `draft_vocab_size: null` does: take the target's head, or stop at start."""
    needs_draft_vocabulary: bool = True
    """Whether the engine stops if config.json has no `draft_vocab_size` at all."""
    absent_head: Literal["random", "target"] = "random"
    """What a checkpoint without lm_head gets."""
    loses: dict[str, str] = {}
    """What is lost, in words, with tensors whose names hold the key."""


class _RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    engine: str
    rules: tuple[Rule, ...]
    fragments: dict[str, Any] = {}
    """Anchors that the rules repeat."""


@dataclass(frozen=True)
class RuleSet:
    """One rule file, with the digest of its bytes."""

    path: str
    digest: Digest
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class Match:
    """The rule for one engine, release and architecture, or why there is none."""

    rule: Rule | None
    why: str = ""
    is_inside: bool = True
    """Whether the release lies in the rule's range."""


@lru_cache(maxsize=4)
def rule_set(engine: str) -> RuleSet | None:
    """The rules of one engine; None if there are none."""
    import yaml

    name = RULE_FILES.get(engine)
    if name is None:
        return None
    data = (files("hypotree_probes.engines") / "rules" / name).read_bytes()
    # The file ships with the package; SafeLoader all the same, as for any YAML here.
    read: _RuleFile = convert(yaml.safe_load(data), _RuleFile, f"rules/{name}")
    return RuleSet(f"hypotree_probes/engines/rules/{name}", Digest.of(data), read.rules)


def rules_for(engine: str, version: str, architecture: str) -> Match:
    """The rule whose range holds `version`, else the nearest one, else why there is none."""
    from packaging.version import InvalidVersion, Version

    found = rule_set(engine)
    if found is None:
        return Match(None, f"there are no parameter rules for {engine}")
    if not architecture:
        return Match(None, "config.json names no architecture, so no class to load it")
    ours = [rule for rule in found.rules if architecture in rule.architectures]
    if not ours:
        return Match(None, f"the {engine} rules cover no class for {architecture}")
    try:
        release = Version(version)
    except InvalidVersion:
        return Match(None, f"the release of {engine} is not known ({version or 'not told'})")
    return _nearest(ours, release, engine)


def _nearest(ours: list[Rule], release: Version, engine: str) -> Match:
    """The rule that holds the release; else the last that starts before it, else the first."""
    from packaging.specifiers import SpecifierSet

    for rule in ours:
        if SpecifierSet(rule.versions).contains(release, prereleases=True):
            return Match(rule)
    before = [rule for rule in ours if _first_release(rule) <= release]
    nearest = max(before, key=_first_release) if before else min(ours, key=_first_release)
    why = f"{engine} {release} was not read; the nearest releases that were are {nearest.versions}"
    return Match(nearest, why, is_inside=False)


def _first_release(rule: Rule) -> Version:
    """Where the rule's range begins; every range has such a bound."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    return min(Version(s.version) for s in SpecifierSet(rule.versions) if s.operator == ">=")
