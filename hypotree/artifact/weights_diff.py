"""What differs between two sets of weights, tensor by tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from hypotree.artifact.tensor import DTYPE_BITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypotree.artifact.weights import Entry, Weights
    from hypotree.digest import Digest

How = Literal["values", "dtype", "shape", "rows-permuted", "same-up-to-dtype"]
_ROWS_READ: Final = 1 << 30
_ALIAS: Final = ""


class Change(msgspec.Struct, frozen=True):
    """One tensor that both have and that is not the same in both."""

    name: str
    how: How
    detail: str


class WeightsDiff(msgspec.Struct, frozen=True):
    """A is before, B is after; every tensor is in exactly one place."""

    same: int
    changed: tuple[Change, ...]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]

    @property
    def is_empty(self) -> bool:
        """Whether both hold the same tensors under the same names."""
        return not (self.changed or self.added or self.gone or self.renamed)

    def words(self) -> str:
        """In one line."""
        counts = (
            (len(self.changed), "changed"),
            (len(self.added), "added"),
            (len(self.gone), "gone"),
            (len(self.renamed), "renamed"),
        )
        said = ", ".join(f"{count} {what}" for count, what in counts if count)
        return f"{said or 'nothing differs'}; {self.same} the same"


def diff_weights(
    a: Weights, b: Weights, progress: Callable[[int, int], None] | None = None
) -> WeightsDiff:
    """Compare by digest; only what differs is looked at closer."""
    before, after = a.entries(progress), b.entries(progress)
    both = [name for name in before if name in after]
    changed = [n for n in both if before[n].sha256 != after[n].sha256]
    gone = [n for n in before if n not in after]
    added = [n for n in after if n not in before]
    renamed = _renamed(a, b, gone, added)
    return WeightsDiff(
        same=len(both) - len(changed),
        changed=tuple(_change(a, b, name, before[name], after[name]) for name in changed),
        added=tuple(sorted(set(added) - {new for _, new in renamed})),
        gone=tuple(sorted(set(gone) - {old for old, _ in renamed})),
        renamed=renamed,
    )


def _renamed(
    a: Weights, b: Weights, gone: list[str], added: list[str]
) -> tuple[tuple[str, str], ...]:
    """Pairs of one content; a content that several names share is paired in order."""
    if a.is_manifest or b.is_manifest or not gone or not added:
        return ()
    found: dict[Digest, list[str]] = {}
    for name, digest in a.digests(sorted(gone), alias=_ALIAS).items():
        found.setdefault(digest, []).append(name)
    pairs = []
    for name, digest in b.digests(sorted(added), alias=_ALIAS).items():
        if olds := found.get(digest):
            pairs.append((olds.pop(0), name))
    return tuple(sorted(pairs))


def _change(a: Weights, b: Weights, name: str, old: Entry, new: Entry) -> Change:
    if old.shape != new.shape:
        return Change(name, "shape", f"{list(old.shape)} to {list(new.shape)}")
    blind = a.is_manifest or b.is_manifest
    if old.dtype != new.dtype:
        detail = f"{old.dtype} to {new.dtype}"
        is_same = not blind and _equal_up_to_dtype(a, b, name)
        return Change(name, "same-up-to-dtype" if is_same else "dtype", detail)
    if blind or _size(old) > _ROWS_READ:
        return Change(name, "values", "by digest")
    return _values(a, b, name, old)


def _size(entry: Entry) -> int:
    count = DTYPE_BITS[entry.dtype]
    for extent in entry.shape:
        count *= extent
    return count // 8


def _values(a: Weights, b: Weights, name: str, entry: Entry) -> Change:
    """How many elements differ, or whether the rows only changed places."""
    one, other = a.tensor(name), b.tensor(name)
    assert one is not None
    assert other is not None
    rows = entry.shape[0] if len(entry.shape) > 1 else 0
    if rows > 1 and len(one.data) % rows == 0:
        width = len(one.data) // rows
        mine = [one.data[i : i + width] for i in range(0, len(one.data), width)]
        theirs = [other.data[i : i + width] for i in range(0, len(other.data), width)]
        moved = sum(x != y for x, y in zip(mine, theirs, strict=True))
        if sorted(mine) == sorted(theirs):
            return Change(name, "rows-permuted", f"{moved} of {rows} rows stand elsewhere")
        return Change(name, "values", f"{moved} of {rows} rows differ")
    step = max(DTYPE_BITS[entry.dtype] // 8, 1)
    count = len(one.data) // step
    differ = sum(
        one.data[i : i + step] != other.data[i : i + step] for i in range(0, len(one.data), step)
    )
    return Change(name, "values", f"{differ} of {count} elements differ")


def _equal_up_to_dtype(a: Weights, b: Weights, name: str) -> bool:
    """Whether the wider one rounds to the narrower; floats and integers each among themselves."""
    from hypotree.artifact.casting import casts_to

    one, other = a.tensor(name), b.tensor(name)
    assert one is not None
    assert other is not None
    return casts_to(one, other) or casts_to(other, one)
