"""Build the edited files beside the target, in memory and by reference only."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.artifact.documents import INDEX as INDEX_LIMITS
from hypotree.artifact.documents import as_mapping, read_json
from hypotree.artifact.files import ByteFile, FileIdentity, FileTree
from hypotree.artifact.plain import plain
from hypotree.artifact.safetensors_header import Header, TensorLayout
from hypotree.artifact.tensor import DTYPE_BITS, TensorValue
from hypotree.errors import MisuseError
from hypotree.fix.segments import Fresh, Kept, Segment, SegmentedFile
from hypotree.fix.values import resolve
from hypotree.model.edit import Edit, InsertTensor, RenameTensors

#: New headers grow in steps of a page, so that data keeps its place in a block and can be shared.
_PAGE = 4096


class StagedTree:
    """A folder as it would be: some files replaced by staged ones, the rest the base's own."""

    def __init__(self, base: FileTree, staged: Mapping[str, SegmentedFile]) -> None:
        self.base = base
        self.staged = dict(staged)

    @property
    def root(self) -> Path:
        """The base's root."""
        return self.base.root

    def names(self) -> tuple[str, ...]:
        """All file names, sorted."""
        return tuple(sorted({*self.base.names(), *self.staged}))

    def has(self, name: str) -> bool:
        """Whether the staged folder holds `name`."""
        return name in self.staged or self.base.has(name)

    def open(self, name: str) -> ByteFile:
        """The staged file, or the base's."""
        return self.staged.get(name) or self.base.open(name)

    def identity(self, name: str) -> FileIdentity:
        """The base's identity: a staged file has none of its own yet."""
        return self.base.identity(name)


@dataclass
class _Tensor:
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


Shards = Mapping[str, list[_Tensor]]


def stage(
    subject: Checkpoint, edits: tuple[Edit, ...], artifacts: Mapping[str, Artifact]
) -> StagedTree:
    """The subject's folder with `edits` made; `MisuseError` if one does not fit what is there."""
    shards = {file: _tensors(header) for file, header in subject.headers().items()}
    for edit in edits:
        if isinstance(edit, RenameTensors):
            _rename(shards, edit.names)
        elif isinstance(edit, InsertTensor):
            _insert(shards, edit.tensor, resolve(edit.value, edit.dtype, subject, artifacts))
        else:
            dtype = _find(shards, edit.tensor).dtype
            _replace(shards, edit.tensor, resolve(edit.value, dtype, subject, artifacts))
    staged = {
        file: staged_file
        for file, tensors in shards.items()
        if (staged_file := _build(subject, file, tensors)) is not None
    }
    return StagedTree(subject.tree, staged | _index(subject, shards))


def _tensors(header: Header) -> list[_Tensor]:
    """In the order of the file; an empty tensor stands before the one that begins where it does."""
    in_file_order = sorted(header.tensors.items(), key=lambda item: (item[1].begin, item[1].end))
    return [
        _Tensor(name, at.dtype, at.shape, Kept(at.begin, at.end - at.begin), name)
        for name, at in in_file_order
    ]


def _find(shards: Shards, name: str) -> _Tensor:
    for tensors in shards.values():
        for tensor in tensors:
            if tensor.name == name:
                return tensor
    raise MisuseError("planning a fix", f"there is no tensor {plain(name)!r} to change")


def _rename(shards: Shards, names: Mapping[str, str]) -> None:
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


def _replace(shards: Shards, name: str, value: TensorValue) -> None:
    tensor = _find(shards, name)
    if (value.dtype, value.shape) != (tensor.dtype, tensor.shape):
        raise MisuseError(
            f"planning new values for {plain(name)!r}",
            f"they are {value.dtype} {list(value.shape)}, it is {tensor.dtype} {list(tensor.shape)}",
        )
    tensor.bytes = Fresh(value.data)


def _insert(shards: Shards, name: str, value: TensorValue) -> None:
    _check_name(name)
    if any(t.name == name for tensors in shards.values() for t in tensors):
        raise MisuseError("planning an insert", f"there is a tensor {plain(name)!r} already")
    tensors = shards[max(shards)]
    new = _Tensor(name, value.dtype, value.shape, Fresh(value.data))
    tensors.insert(_place(tensors, new), new)


def _place(tensors: list[_Tensor], new: _Tensor) -> int:
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


def _build(subject: Checkpoint, file: str, tensors: list[_Tensor]) -> SegmentedFile | None:
    """The new file, or None if nothing in it changed."""
    old = subject.headers()[file]
    layouts: dict[str, TensorLayout] = {}
    at = 0
    for tensor in tensors:
        layouts[tensor.name] = TensorLayout(
            tensor.dtype, tensor.shape, at, at + tensor.bytes.length
        )
        at += tensor.bytes.length
    same = _is_same(old, layouts)
    if same and not any(isinstance(t.bytes, Fresh) for t in tensors):
        return None
    head: Segment = Kept(0, old.data_start) if same else Fresh(_header(old, layouts))
    return SegmentedFile(subject.tree.open(file), (head, *(t.bytes for t in tensors)))


def _is_same(old: Header, layouts: Mapping[str, TensorLayout]) -> bool:
    moved = {
        name: TensorLayout(at.dtype, at.shape, at.begin - old.data_start, at.end - old.data_start)
        for name, at in old.tensors.items()
    }
    return moved == dict(layouts)


def _header(old: Header, layouts: Mapping[str, TensorLayout]) -> bytes:
    """Length prefix and header; the old data offset is kept wherever the text fits."""
    has_metadata = old.metadata or b'"__metadata__"' in old.raw
    entries: dict[str, object] = {"__metadata__": old.metadata} if has_metadata else {}
    for name, at in layouts.items():
        entries[name] = {
            "dtype": at.dtype, "shape": list(at.shape), "data_offsets": [at.begin, at.end],
        }  # fmt: skip
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    room = old.data_start - 8
    if room < len(text):
        room += -(-(len(text) - room) // _PAGE) * _PAGE
        room += -room % 8
    text = text.ljust(room)
    return len(text).to_bytes(8, "little") + text


def _index(subject: Checkpoint, shards: Shards) -> dict[str, SegmentedFile]:
    """The index with the renamed and new tensors in it, if there is one and it changes.

    Entries of shards that were not opened, and any that were wrong before, stay as they are.
    """
    if not subject.tree.has(INDEX):
        return {}
    file = subject.tree.open(INDEX)
    document = as_mapping(read_json(file, INDEX, INDEX_LIMITS), INDEX)
    old = as_mapping(document.get("weight_map"), f"the weight_map of {INDEX}")
    tensors = [(shard, tensor) for shard, found in shards.items() for tensor in found]
    renamed = {t.old_name: t.name for _, t in tensors if t.old_name and t.old_name != t.name}
    added = [(shard, tensor) for shard, tensor in tensors if not tensor.old_name]
    if not renamed and not added:
        return {}
    document["weight_map"] = {renamed.get(name, name): shard for name, shard in old.items()} | {
        tensor.name: shard for shard, tensor in added
    }
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("total_size"), int):
        metadata["total_size"] += sum(tensor.bytes.length for _, tensor in added)
    new = json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"
    return {INDEX: SegmentedFile(file, (Fresh(new),))}
