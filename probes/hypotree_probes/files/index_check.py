"""The index of a sharded checkpoint against the shards and their headers.

Format: Hugging Face's `*.safetensors.index.json`, whose `weight_map` names the shard of every
tensor (transformers, save_pretrained). A further shard that the index does not name is no fault:
heads for multi-token prediction travel in side files. `metadata.total_size` is not judged:
tools that quantise or merge leave it stale, and no engine reads it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from hypotree.artifact.documents import INDEX, as_mapping, read_json
from hypotree.artifact.plain import plain
from hypotree.errors import LimitError, MalformedError, UnreadableError

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
        listed = _listed(draft, name)
    except MalformedError as error:
        report.wrong.append((name, f"it cannot be read: {error.found}"))
        report.is_read = False
        return report
    except (LimitError, UnreadableError) as error:
        report.open.append(f"{plain(name)} was not read: {error.found}")
        report.is_read = False
        return report
    for shard, tensors in sorted(listed.items()):
        _compare(report, draft, shard, tensors, shards.get(shard))
    return report


def _listed(draft: Checkpoint, name: str) -> dict[str, set[str]]:
    """The tensors that the index puts into each shard."""
    file = draft.file(name)
    value = None if file is None else read_json(file, name, INDEX)
    weights = as_mapping(as_mapping(value, name).get("weight_map"), f"weight_map of {name}")
    if not set(map(type, weights.values())) <= {str}:
        asked = f"reading {plain(name)}"
        raise MalformedError(asked, "a tensor of its weight_map has no file name")
    listed: dict[str, set[str]] = defaultdict(set)
    for tensor, shard in cast("dict[str, str]", weights).items():
        listed[shard].add(tensor)
    return listed


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
    for tensors, what in (
        (listed - shard.tensors, "the index puts {} into {}, which does not hold it"),
        (shard.tensors - listed, "{} is in {}, and the index does not say so"),
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
