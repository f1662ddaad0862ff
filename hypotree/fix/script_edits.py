"""The difference of two checkpoints as edits: what a script did, tensor by tensor, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.artifact.files import ByteFile
from hypotree.digest import CHUNK, Digest, digest_range
from hypotree.model.edit import (
    DeleteField,
    DropTensor,
    Edit,
    InsertTensor,
    RenameTensors,
    ReplaceTensor,
    SetField,
    TensorFrom,
)

#: The name under which the script's result is a source of bytes.
RESULT = "script"


@dataclass(frozen=True)
class ScriptDifference:
    """What can be planned, and what a script changed beyond that."""

    edits: tuple[Edit, ...]
    beyond: tuple[str, ...]


def difference_of(
    before: Checkpoint, after: Checkpoint, tensors: tuple[str, ...], fields: tuple[str, ...]
) -> ScriptDifference:
    """Edits that turn `before` into `after`; what is not declared in `tensors` or `fields` is beyond."""
    tensor_edits = tuple(_tensor_edits(before, after))
    field_edits, others = _file_edits(before, after)
    beyond = [name for edit in tensor_edits for name in _named(edit) if name not in tensors]
    beyond += [name for edit in field_edits if (name := _field(edit)) not in fields]
    return ScriptDifference((*tensor_edits, *field_edits), (*dict.fromkeys(beyond), *others))


def _tensor_edits(before: Checkpoint, after: Checkpoint) -> Iterator[Edit]:
    old, new = set(before.layouts()), set(after.layouts())
    gone, added = sorted(old - new), sorted(new - old)
    renamed = _renames(before, after, gone, added)
    if renamed:
        yield RenameTensors(renamed)
    for name in gone:
        if name not in renamed:
            yield DropTensor(name)
    for name in sorted(old & new):
        if _is_recast(before, after, name):
            yield DropTensor(name)
            yield _insert(after, name)
        elif not _is_same(before, after, name):
            yield ReplaceTensor(name, TensorFrom(RESULT, name))
    for name in added:
        if name not in renamed.values():
            yield _insert(after, name)


def _insert(after: Checkpoint, name: str) -> InsertTensor:
    where = after.locate(name)
    assert where is not None
    return InsertTensor(name, TensorFrom(RESULT, name), where[1].dtype)


def _renames(
    before: Checkpoint, after: Checkpoint, gone: list[str], added: list[str]
) -> dict[str, str]:
    by_content = {_content(after, name): name for name in reversed(added)}
    pairs = ((name, by_content.pop(_content(before, name), "")) for name in gone)
    return {name: new for name, new in pairs if new}


def _content(checkpoint: Checkpoint, name: str) -> tuple[str, tuple[int, ...], Digest]:
    file, at = _place(checkpoint, name)
    return at[0], at[1], digest_range(file, at[2], at[3])


def _place(
    checkpoint: Checkpoint, name: str
) -> tuple[ByteFile, tuple[str, tuple[int, ...], int, int]]:
    where = checkpoint.locate(name)
    assert where is not None
    file, at = where
    return checkpoint.tree.open(file), (at.dtype, at.shape, at.begin, at.end - at.begin)


def _is_recast(before: Checkpoint, after: Checkpoint, name: str) -> bool:
    return _place(before, name)[1][:2] != _place(after, name)[1][:2]


def _is_same(before: Checkpoint, after: Checkpoint, name: str) -> bool:
    (one, (_, _, start, length)), (other, (_, _, begin, _)) = (
        _place(before, name),
        _place(after, name),
    )
    return all(
        one.read(start + at, size) == other.read(begin + at, size)
        for at in range(0, length, CHUNK)
        for size in [min(CHUNK, length - at)]
    )


def _file_edits(before: Checkpoint, after: Checkpoint) -> tuple[list[Edit], list[str]]:
    edits: list[Edit] = []
    others: list[str] = []
    for name in sorted({*before.tree.names(), *after.tree.names()}):
        if name.endswith(".safetensors") or name == INDEX:
            continue
        if before.digest_of("file", name) == after.digest_of("file", name):
            continue
        if name.endswith(".json") and before.tree.has(name) and after.tree.has(name):
            edits += _field_edits(name, _json(before, name), _json(after, name), ())
        else:
            others.append(f"the file {name}")
    return edits, others


def _json(checkpoint: Checkpoint, name: str) -> Any:
    file = checkpoint.tree.open(name)
    return json.loads(file.read(0, file.size))


def _field_edits(file: str, old: Any, new: Any, path: tuple[str, ...]) -> Iterator[Edit]:
    if not isinstance(old, dict) or not isinstance(new, dict):
        value = tuple(new) if isinstance(new, list) else new
        yield SetField(file, path, value)
        return
    for key in {**old, **new}:
        if key not in new:
            yield DeleteField(file, (*path, key))
        elif key not in old or old[key] != new[key]:
            yield from _field_edits(file, old.get(key), new[key], (*path, key))


def _named(edit: Edit) -> tuple[str, ...]:
    if isinstance(edit, RenameTensors):
        return (*edit.names, *edit.names.values())
    assert isinstance(edit, ReplaceTensor | InsertTensor | DropTensor)
    return (edit.tensor,)


def _field(edit: Edit) -> str:
    assert isinstance(edit, SetField | DeleteField)
    return ".".join(edit.field)
