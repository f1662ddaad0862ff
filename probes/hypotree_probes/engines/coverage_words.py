"""What param-coverage says in words: fates, names and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from hypotree_probes.engines.coverage_facts import Coverage

SHOWN: Final = 4
#: From bad to worse.
FATE: Final = {
    "silent": "dropped without a message",
    "warned": "dropped with a warning in the log",
    "raises": "refused, and the engine stops at start",
}


def fate_of(found: Coverage, tensor: str) -> str:
    """What becomes of a tensor without a parameter, in words."""
    rule = found.rule
    if tensor.endswith(tuple(rule.silent_suffixes)):
        return FATE["silent"]
    is_stacked = any(part in tensor for part, _ in rule.stacked)
    return FATE[rule.unexpected_stacked if is_stacked else rule.unexpected]


def fates(found: Coverage, lost: tuple[str, ...]) -> str:
    """The worst that happens to any of them: a loader that stops drops no more."""
    told = {fate_of(found, name) for name in lost}
    return next(words for words in reversed(FATE.values()) if words in told)


def outcome(found: Coverage) -> str:
    """What becomes of parameters that nothing fills."""
    if FATE["raises"] in {fate_of(found, name) for name in found.ledger.dropped}:
        return "would stay empty even if it went on"
    return "keep their start values (random; ones in norms)"


def knows(found: Coverage, new: str) -> str:
    """By what name the engine has what was renamed."""
    layer = found.rule.layer.replace("{n}", "0")
    if not new:
        return "knows its parameters without such a prefix"
    return f"knows {'the decoder layer' if new == layer else 'them'} as {new}.*"


def prefixes(names: Mapping[str, str]) -> tuple[str, str]:
    """The change of prefix that most of the renames share."""
    changes: Counter[tuple[str, str]] = Counter()
    for old, new in names.items():
        ours, theirs = old.split("."), new.split(".")
        while ours and theirs and ours[-1] == theirs[-1]:
            ours.pop()
            theirs.pop()
        changes[".".join(ours), ".".join(theirs)] += 1
    return changes.most_common(1)[0][0]


def losses(found: Coverage, lost: tuple[str, ...]) -> str:
    """What goes with the tensors that no renaming brings back."""
    told = {
        words
        for part, words in found.rule.loses.items()
        if any(part in name and name not in found.ledger.renames for name in lost)
    }
    return f"; lost is {' and '.join(sorted(told))}" if told else ""


def some(names: tuple[str, ...]) -> str:
    """The first few names."""
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def be(number: int) -> str:
    """The verb for a number of things."""
    return "is" if number == 1 else "are"
