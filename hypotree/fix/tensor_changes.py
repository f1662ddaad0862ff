"""What a plan changes of each tensor: names, dtype, how many elements, the first of them."""

from __future__ import annotations

from collections.abc import Iterable

from hypotree.artifact.checkpoint import Checkpoint, tensor_digest
from hypotree.fix.cast import largest_change
from hypotree.fix.difference import differing_elements, element, element_width
from hypotree.model.edit import (
    DeleteField,
    DropTensor,
    Edit,
    InsertTensor,
    PatchText,
    RenameTensors,
    SetField,
)
from hypotree.model.fix import TensorChange

_ROWS = 6


def tensor_changes(
    file: str, before: Checkpoint, after: Checkpoint, edits: tuple[Edit, ...]
) -> tuple[TensorChange, ...]:
    """Of the tensors of `file`; no edit moves one to another file."""
    lineage = _lineage(edits)
    changes: list[TensorChange] = []
    for new, (old, has_new_bytes) in lineage.items():
        if _is_in(file, after, new):
            changes += _changed(old, new, before, after, has_new_bytes=has_new_bytes)
    changes += [_dropped(name, before) for name in _gone(edits) if _is_in(file, before, name)]
    return tuple(changes)


def _is_in(file: str, checkpoint: Checkpoint, name: str) -> bool:
    where = checkpoint.locate(name)
    return where is not None and where[0] == file


def _changed(
    old: str, new: str, before: Checkpoint, after: Checkpoint, *, has_new_bytes: bool
) -> Iterable[TensorChange]:
    if not old:
        yield _inserted(new, after)
    elif has_new_bytes:
        yield _replaced(old, new, before, after)
    elif old != new:
        where = after.locate(new)
        assert where is not None
        yield TensorChange(old, new, where[1].dtype, where[1].shape)


def _lineage(edits: tuple[Edit, ...]) -> dict[str, tuple[str, bool]]:
    """Each touched tensor by its last name: its first ("" if it is new), and if its bytes are new."""
    touched: dict[str, tuple[str, bool]] = {}
    for edit in edits:
        if isinstance(edit, RenameTensors):
            touched |= {new: touched.pop(old, (old, False)) for old, new in edit.names.items()}
        elif isinstance(edit, InsertTensor):
            touched[edit.tensor] = ("", True)
        elif isinstance(edit, DropTensor):
            touched.pop(edit.tensor, None)
        elif not isinstance(edit, SetField | DeleteField | PatchText):
            touched[edit.tensor] = (touched.get(edit.tensor, (edit.tensor, True))[0], True)
    return touched


def _gone(edits: tuple[Edit, ...]) -> list[str]:
    """Dropped tensors by the names that they had in the old file."""
    old_names: dict[str, str] = {}
    new: set[str] = set()
    gone: list[str] = []
    for edit in edits:
        if isinstance(edit, RenameTensors):
            old_names |= {to: old_names.pop(name, name) for name, to in edit.names.items()}
        elif isinstance(edit, InsertTensor):
            new.add(edit.tensor)
        elif isinstance(edit, DropTensor) and edit.tensor not in new:
            gone.append(old_names.pop(edit.tensor, edit.tensor))
    return gone


def _dropped(name: str, before: Checkpoint) -> TensorChange:
    where = before.locate(name)
    assert where is not None
    digest = before.digest_of("tensor", name)
    return TensorChange(name, "", where[1].dtype, where[1].shape, before_sha256=digest)


def _inserted(name: str, after: Checkpoint) -> TensorChange:
    value = after.tensor(name)
    assert value is not None
    count = len(value.data) // element_width(value)
    rows = tuple((i, None, element(value, i)) for i in range(min(count, _ROWS)))
    return TensorChange(
        "", name, value.dtype, value.shape, None, tensor_digest(name, value), count, rows
    )


def _replaced(old_name: str, new_name: str, before: Checkpoint, after: Checkpoint) -> TensorChange:
    old, new = before.tensor(old_name), after.tensor(new_name)
    assert old is not None
    assert new is not None
    comparable = (old.dtype, old.shape) == (new.dtype, new.shape)
    total = len(new.data) // element_width(new)
    count, first = differing_elements(old, new, _ROWS) if comparable else (total, [])
    return TensorChange(
        before=old_name,
        after=new_name,
        dtype=new.dtype,
        shape=new.shape,
        before_sha256=tensor_digest(old_name, old),
        after_sha256=tensor_digest(new_name, new),
        changed=count,
        rows=tuple((i, element(old, i), element(new, i)) for i in first),
        max_change=largest_change(old, new),
        old_dtype="" if old.dtype == new.dtype else old.dtype,
    )
