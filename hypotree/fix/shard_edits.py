"""Edits on the tensors of all shards, before a byte of a file is laid out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from hypotree.artifact.plain import plain
from hypotree.artifact.safetensors_header import Header
from hypotree.artifact.tensor import DTYPE_BITS, TensorValue
from hypotree.errors import MisuseError
from hypotree.fix.segments import Fresh, Kept, Segment


@dataclass(eq=False)
class StagedTensor:
    """One tensor of the new file: where it comes from, and what it was and is called."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: Segment
    old_name: str = ""

    @property
    def width(self) -> int:
        """Bytes of one element, 1 for those that are smaller: its place is a multiple of this."""
        return max(DTYPE_BITS[self.dtype] // 8, 1)


Shards = Mapping[str, list[StagedTensor]]


def tensors_of(header: Header) -> list[StagedTensor]:
    """In the order of the file; an empty tensor stands before the one that begins where it does."""
    in_file_order = sorted(header.tensors.items(), key=lambda item: (item[1].begin, item[1].end))
    return [
        StagedTensor(name, at.dtype, at.shape, Kept(at.begin, at.end - at.begin), name)
        for name, at in in_file_order
    ]


def find(shards: Shards, name: str) -> StagedTensor:
    """The staged tensor of that name; `MisuseError` if there is none."""
    for tensors in shards.values():
        for tensor in tensors:
            if tensor.name == name:
                return tensor
    raise MisuseError("planning a fix", f"there is no tensor {plain(name)!r} to change")


def rename(shards: Shards, names: Mapping[str, str]) -> None:
    """All at once, so that two names can be exchanged."""
    tensors = {tensor.name: tensor for found in shards.values() for tensor in found}
    for old, new in names.items():
        _check_name(new)
        if old not in tensors:
            raise MisuseError("planning a rename", f"there is no tensor {plain(old)!r} to rename")
    for old, new in names.items():
        tensors[old].name = new
    count = Counter(tensor.name for found in shards.values() for tensor in found)
    for new in names.values():
        if count[new] > 1:
            raise MisuseError("planning a rename", f"two tensors would be called {plain(new)!r}")


def _check_name(name: str) -> None:
    if not name or name == "__metadata__":
        raise MisuseError(f"naming a tensor {name!r}", "the format keeps that name for itself")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise MisuseError(f"naming a tensor {plain(name)!r}", "it is no text") from error


def replace(shards: Shards, name: str, value: TensorValue) -> None:
    """Give a tensor other bytes; dtype and shape must stay."""
    tensor = find(shards, name)
    if (value.dtype, value.shape) != (tensor.dtype, tensor.shape):
        raise MisuseError(
            f"planning new values for {plain(name)!r}",
            f"they are {value.dtype} {list(value.shape)}, it is {tensor.dtype} {list(tensor.shape)}",
        )
    tensor.bytes = Fresh(value.data)


def insert(shards: Shards, name: str, value: TensorValue) -> None:
    """Add a tensor to the last shard."""
    _check_name(name)
    if any(t.name == name for tensors in shards.values() for t in tensors):
        raise MisuseError("planning an insert", f"there is a tensor {plain(name)!r} already")
    tensors = shards[max(shards)]
    new = StagedTensor(name, value.dtype, value.shape, Fresh(value.data))
    tensors.insert(_place(tensors, new), new)


def drop(shards: Shards, name: str) -> None:
    """Take a tensor out of its shard."""
    gone = find(shards, name)
    for tensors in shards.values():
        if gone in tensors:
            tensors.remove(gone)


def recast(shards: Shards, name: str, value: TensorValue) -> None:
    """Give a tensor another dtype, in its shard; it moves to where it and the others are aligned."""
    old = find(shards, name)
    for tensors in shards.values():
        if old in tensors:
            tensors.remove(old)
            new = StagedTensor(name, value.dtype, value.shape, Fresh(value.data), old.old_name)
            tensors.insert(_place(tensors, new), new)
            return


def _place(tensors: list[StagedTensor], new: StagedTensor) -> int:
    """The last place where the new tensor is aligned and all that it moves stay so; else the end."""
    offset = sum(tensor.bytes.length for tensor in tensors)
    place, moved = len(tensors), 1
    while offset % new.width or new.bytes.length % moved:
        if not place:
            return len(tensors)
        place -= 1
        offset -= tensors[place].bytes.length
        moved = max(moved, tensors[place].width)
    return place
