"""Shards without an index: whether one tensor stands in two files, or a numbered shard is missing.

With an index that names the file of each tensor, other files are side files and no fault. Without
one an engine loads every *.safetensors of the folder, and the file that it happens to read last
wins. Mistral's `consolidated*.safetensors` beside the shards is known to the engines and skipped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypotree_probes.files.shard_scan import Shard

_NUMBERED: Final = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.safetensors")


def twice(shards: Mapping[str, Shard]) -> list[tuple[str, str]]:
    """A file and a sentence for each pair of files that hold tensors of one name."""
    first: dict[str, str] = {}
    shared: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, shard in shards.items():
        if not name.startswith("consolidated"):
            for tensor in shard.tensors or ():
                if (other := first.setdefault(tensor, name)) != name:
                    shared[other, name].append(tensor)
    said = []
    for (a, b), tensors in shared.items():
        where = f"{plain(tensors[0])}{_more(tensors)} stands in {plain(a)} and in {plain(b)}"
        same = _same(shards[a], shards[b])
        said.append((b, f"{where}, and no index says which counts{same}"))
    return said


def missing_numbers(shards: Mapping[str, Shard]) -> list[tuple[str, str]]:
    """A file and a sentence for each set `x-00001-of-0000n` that is not whole."""
    sets: dict[tuple[str, int], set[int]] = defaultdict(set)
    for name in shards:
        if found := _NUMBERED.fullmatch(name):
            sets[found[1], int(found[3])].add(int(found[2]))
    said = []
    for (stem, count), there in sets.items():
        gone = sorted(set(range(1, min(count, 10_000) + 1)) - there)
        if gone:
            name = f"{stem}-{gone[0]:05d}-of-{count:05d}.safetensors"
            more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
            said.append((name, f"{plain(name)}{more} by the numbers of the others: not there"))
    return said


def _more(tensors: list[str]) -> str:
    return f" (and {len(tensors) - 1} more)" if len(tensors) > 1 else ""


def _same(one: Shard, other: Shard) -> str:
    is_same = one.size == other.size and one.tensors == other.tensors
    return "; the two look like copies of one file" if is_same else ""
