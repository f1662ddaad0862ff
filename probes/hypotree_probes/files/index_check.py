"""The index of a sharded checkpoint against the shards and their headers.

Format: Hugging Face's `*.safetensors.index.json`, whose `weight_map` names the shard of every
tensor (transformers, save_pretrained). A further shard that the index does not name is no fault:
heads for multi-token prediction travel in side files. `metadata.total_size` is not judged:
tools that quantise or merge leave it stale, and no engine reads it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.errors import LimitError, MalformedError, UnreadableError
from hypotree_probes.files.index_map import read_weight_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree_probes.files.shard_scan import Shard

_SUFFIX: Final = ".safetensors.index.json"


@dataclass
class IndexReport:
    """What one index says that is not so; lists of sentences, each with the shard it is about."""

    name: str
    missing: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    """What could not be compared, and why."""
    is_read: bool = True


def check_indexes(draft: Checkpoint, shards: Mapping[str, Shard]) -> tuple[IndexReport, ...]:
    """A report on every index in the folder; none if a single file was given."""
    if draft.is_single_file:
        return ()
    names = [n for n in draft.tree.names() if n.endswith(_SUFFIX) and "/" not in n]
    return tuple(_check(draft, name, shards) for name in names)


def _check(draft: Checkpoint, name: str, shards: Mapping[str, Shard]) -> IndexReport:
    report = IndexReport(name)
    try:
        weights = read_weight_map(draft, name)
    except MalformedError as error:
        report.wrong.append((name, f"it cannot be read: {error.found}"))
        report.is_read = False
        return report
    except (LimitError, UnreadableError) as error:
        report.open.append(f"{plain(name)} was not read: {error.found}")
        report.is_read = False
        return report
    listed: dict[str, list[str]] = defaultdict(list)
    for tensor, where in weights.items():
        listed[where].append(tensor)
    for where, tensors in sorted(listed.items()):
        shard = shards.get(where)
        # Both in one order is the rule, and comparing in order is by far the cheapest.
        if shard is None or shard.tensors != tuple(tensors):
            _compare(report, draft, where, set(tensors), shard)
    return report


def _compare(
    report: IndexReport, draft: Checkpoint, name: str, listed: set[str], shard: Shard | None
) -> None:
    if shard is None:
        if absent := _absence(draft, name):
            report.missing.append(
                (name, f"{len(listed)} tensors are to be in {plain(name)}: {absent}")
            )
        else:
            report.open.append(f"{plain(name)} is no shard of this folder's top level")
        return
    if shard.tensors is None:
        report.open.append(f"the header of {plain(name)} does not tell its tensors")
        return
    there = set(shard.tensors)
    for tensors, what in (
        (listed - there, "the index puts {} into {}, which does not hold it"),
        (there - listed, "{} is in {}, and the index does not say so"),
    ):
        if tensors:
            first = what.format(plain(min(tensors)), plain(name))
            more = f" (and {len(tensors) - 1} more)" if len(tensors) > 1 else ""
            report.wrong.append((name, first + more))


def _absence(draft: Checkpoint, name: str) -> str:
    """Why the named file is not there, "" if it is; a name that leads elsewhere is not followed."""
    try:
        return "" if draft.tree.has(name) else "there is no such file"
    except UnreadableError as error:
        return error.found
    except (OSError, RuntimeError, ValueError):  # too long, a loop of links, no text at all
        return "no file can have such a name"
