"""Lay out a shard's new file by reference, and keep the index true."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.artifact.documents import INDEX as INDEX_LIMITS
from hypotree.artifact.documents import as_mapping, read_json
from hypotree.artifact.safetensors_header import Header, TensorLayout
from hypotree.errors import MisuseError
from hypotree.fix.segments import Fresh, Kept, Segment, SegmentedFile
from hypotree.fix.shard_edits import Shards, StagedTensor

#: New headers grow in steps of a page, so that data keeps its place in a block and can be shared.
_PAGE = 4096
#: What readers accept (safetensors 0.8.0, MAX_HEADER_SIZE).
MAX_HEADER = 100_000_000


def shard_file(subject: Checkpoint, file: str, tensors: list[StagedTensor]) -> SegmentedFile | None:
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
    if len(text) > MAX_HEADER - _PAGE:
        raise MisuseError(
            "planning a fix",
            f"the new header would have {len(text)} bytes, the format takes {MAX_HEADER}",
        )
    room = old.data_start - 8
    if room < len(text):
        room += -(-(len(text) - room) // _PAGE) * _PAGE
        room += -room % 8
    text = text.ljust(room)
    return len(text).to_bytes(8, "little") + text


def index_file(subject: Checkpoint, shards: Shards) -> dict[str, SegmentedFile]:
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
    gone = {n for h in subject.headers().values() for n in h.tensors} - {
        t.old_name for _, t in tensors
    }
    growth = _growth(subject, [tensor for _, tensor in tensors])
    if not renamed and not added and not gone and not growth:
        return {}
    document["weight_map"] = {
        renamed.get(name, name): shard for name, shard in old.items() if name not in gone
    } | {tensor.name: shard for shard, tensor in added}
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("total_size"), int):
        metadata["total_size"] += growth
    new = json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"
    return {INDEX: SegmentedFile(file, (Fresh(new),))}


def _growth(subject: Checkpoint, tensors: list[StagedTensor]) -> int:
    """By how many bytes all tensors together are longer than they were."""
    before = sum(at.end - at.begin for h in subject.headers().values() for at in h.tensors.values())
    return sum(tensor.bytes.length for tensor in tensors) - before
