"""Build the edited files beside the target, in memory and by reference only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.artifact.files import ByteFile, FileIdentity, FileTree
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
    """One tensor of the new file: where it comes from and what it is called now."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: Segment


def stage(
    subject: Checkpoint, edits: tuple[Edit, ...], artifacts: Mapping[str, Artifact]
) -> StagedTree:
    """The subject's folder with `edits` made; `MisuseError` if one does not fit what is there."""
    shards = {file: _tensors(header) for file, header in subject.headers().items()}
    for edit in edits:
        if isinstance(edit, RenameTensors):
            _rename(shards, edit.names)
        elif isinstance(edit, InsertTensor):
            _insert(shards, edit, subject, artifacts)
        else:
            _replace(shards, edit.tensor, resolve(
                edit.value, _find(shards, edit.tensor).dtype, subject, artifacts))  # fmt: skip
    staged = {
        file: staged_file
        for file, tensors in shards.items()
        if (staged_file := _build(subject, file, tensors)) is not None
    }
    return StagedTree(subject.tree, staged | _index(subject, shards))


def _tensors(header: Header) -> list[_Tensor]:
    in_file_order = sorted(header.tensors.items(), key=lambda item: item[1].begin)
    return [
        _Tensor(name, at.dtype, at.shape, Kept(at.begin, at.end - at.begin))
        for name, at in in_file_order
    ]


def _find(shards: Mapping[str, list[_Tensor]], name: str) -> _Tensor:
    for tensors in shards.values():
        for tensor in tensors:
            if tensor.name == name:
                return tensor
    raise MisuseError("planning a fix", f"there is no tensor {name!r} to change")


def _rename(shards: Mapping[str, list[_Tensor]], names: Mapping[str, str]) -> None:
    renamed = [(_find(shards, old), new) for old, new in names.items()]
    for tensor, new in renamed:
        tensor.name = new
    seen: set[str] = set()
    for tensors in shards.values():
        for tensor in tensors:
            if tensor.name in seen:
                raise MisuseError(
                    "planning a rename", f"two tensors would be called {tensor.name!r}"
                )
            seen.add(tensor.name)


def _replace(shards: Mapping[str, list[_Tensor]], name: str, value: TensorValue) -> None:
    tensor = _find(shards, name)
    if (value.dtype, value.shape) != (tensor.dtype, tensor.shape):
        raise MisuseError(
            f"planning new values for {name!r}",
            f"they are {value.dtype} {list(value.shape)}, it is {tensor.dtype} {list(tensor.shape)}",
        )
    tensor.bytes = Fresh(value.data)


def _insert(
    shards: dict[str, list[_Tensor]],
    edit: InsertTensor,
    subject: Checkpoint,
    artifacts: Mapping[str, Artifact],
) -> None:
    if any(t.name == edit.tensor for tensors in shards.values() for t in tensors):
        raise MisuseError("planning an insert", f"there is a tensor {edit.tensor!r} already")
    value = resolve(edit.value, edit.dtype, subject, artifacts)
    new = _Tensor(edit.tensor, value.dtype, value.shape, Fresh(value.data))
    tensors = shards[max(shards)]
    end = sum(t.bytes.length for t in tensors)
    width = max(DTYPE_BITS[value.dtype] // 8, 1)
    # At the end nothing else moves; where that would misalign it, in front, which is aligned.
    tensors.insert(len(tensors) if end % width == 0 else 0, new)


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
    if _is_same(old, layouts) and not any(isinstance(t.bytes, Fresh) for t in tensors):
        return None
    head = _framed(old.raw) if _is_same(old, layouts) else _header(old, layouts)
    return SegmentedFile(subject.tree.open(file), (Fresh(head), *(t.bytes for t in tensors)))


def _is_same(old: Header, layouts: Mapping[str, TensorLayout]) -> bool:
    moved = {
        name: TensorLayout(at.dtype, at.shape, at.begin - old.data_start, at.end - old.data_start)
        for name, at in old.tensors.items()
    }
    return moved == dict(layouts)


def _header(old: Header, layouts: Mapping[str, TensorLayout]) -> bytes:
    """Length prefix and header; the old data offset is kept wherever the text fits."""
    entries: dict[str, object] = {"__metadata__": old.metadata} if old.metadata else {}
    for name, at in layouts.items():
        entries[name] = {
            "dtype": at.dtype, "shape": list(at.shape), "data_offsets": [at.begin, at.end],
        }  # fmt: skip
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    room = old.data_start - 8
    while room < len(text):
        room += _PAGE
    room += -room % 8
    return _framed(text.ljust(room))


def _framed(header: bytes) -> bytes:
    """A header behind its length."""
    return len(header).to_bytes(8, "little") + header


def _index(subject: Checkpoint, shards: Mapping[str, list[_Tensor]]) -> dict[str, SegmentedFile]:
    """The index with its weight_map kept true, if there is one and it changes."""
    if not subject.tree.has(INDEX):
        return {}
    file = subject.tree.open(INDEX)
    old = file.read(0, file.size)
    document = json.loads(old)
    document["weight_map"] = {
        tensor.name: shard for shard, tensors in shards.items() for tensor in tensors
    }
    if json.loads(old)["weight_map"] == document["weight_map"]:
        return {}
    new = json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"
    return {INDEX: SegmentedFile(file, (Fresh(new),))}
