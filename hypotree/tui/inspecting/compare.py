"""Two checkpoints beside each other: names and layouts from the headers, bytes when asked."""

from __future__ import annotations

from typing import Literal

import msgspec

from hypotree.digest import digest_range
from hypotree.tui.inspecting.source import Source, TensorRow

State = Literal["same layout", "layout differs", "only left", "only right"]


class Pair(msgspec.Struct, frozen=True):
    """One tensor name in two checkpoints."""

    name: str
    state: State
    left: str
    right: str
    bytes_equal: bool | None = None
    """None: not asked, or not to be asked of different layouts."""


def compare(left: Source, right: Source) -> tuple[Pair, ...]:
    """Every name of either, by the headers alone; what differs comes first."""
    mine, theirs = {t.name: t for t in left.tensors}, {t.name: t for t in right.tensors}
    pairs = [_pair(name, mine.get(name), theirs.get(name)) for name in sorted({*mine, *theirs})]
    return tuple(sorted(pairs, key=lambda pair: pair.state == "same layout"))


def with_bytes(pair: Pair, left: Source, right: Source) -> Pair:
    """The same pair with its bytes compared, by digest, in chunks."""
    if pair.state != "same layout":
        return pair
    digests = [
        digest_range(source.file_of(row), row.begin, row.size)
        for source in (left, right)
        for row in (source.tensor(pair.name),)
    ]
    return msgspec.structs.replace(pair, bytes_equal=digests[0] == digests[1])


def _pair(name: str, left: TensorRow | None, right: TensorRow | None) -> Pair:
    if left is None or right is None:
        state: State = "only right" if left is None else "only left"
    else:
        is_same = (left.dtype, left.shape) == (right.dtype, right.shape)
        state = "same layout" if is_same else "layout differs"
    return Pair(name, state, layout_text(left), layout_text(right))


def layout_text(row: TensorRow | None) -> str:
    """Dtype and shape in one word; "" for not there."""
    return f"{row.dtype} {list(row.shape)}" if row else ""
