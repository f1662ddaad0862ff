"""Edits: the closed set of changes that a fix may declare, and where new bytes come from."""

from __future__ import annotations

import msgspec

#: What a JSON field may be set to: a plain value or a list of them.
FieldValue = bool | int | float | str | None | tuple[bool | int | float | str | None, ...]


class MapFrom(msgspec.Struct, frozen=True, tag_field="from", tag="vocabulary-map"):
    """The d2t offsets of the vocabulary map bound as `input`, in the subject's dtype."""

    input: str


class TensorFrom(msgspec.Struct, frozen=True, tag_field="from", tag="tensor"):
    """The tensor `tensor` of the checkpoint bound as `input`, bit for bit."""

    input: str
    tensor: str


class MinusArange(msgspec.Struct, frozen=True, tag_field="from", tag="minus-arange"):
    """The subject's own integer tensor, less its element index (absolute ids to offsets)."""

    tensor: str


ValueSource = MapFrom | TensorFrom | MinusArange


class RenameTensors(msgspec.Struct, frozen=True, tag_field="edit", tag="rename-tensors"):
    """Give tensors new names; dtype, shape and bytes stay. Keys are old names, values new ones."""

    names: dict[str, str]


class ReplaceTensor(msgspec.Struct, frozen=True, tag_field="edit", tag="replace-tensor"):
    """Give one tensor other values; its dtype and shape stay."""

    tensor: str
    value: ValueSource


class InsertTensor(msgspec.Struct, frozen=True, tag_field="edit", tag="insert-tensor"):
    """Add a tensor that is not there."""

    tensor: str
    value: ValueSource
    dtype: str = "I64"


class DropTensor(msgspec.Struct, frozen=True, tag_field="edit", tag="drop-tensor"):
    """Take a tensor out; the others keep their bytes."""

    tensor: str


class CastTensor(msgspec.Struct, frozen=True, tag_field="edit", tag="cast-tensor"):
    """Store a tensor in another dtype (safetensors' name); its shape stays."""

    tensor: str
    dtype: str


class SetField(msgspec.Struct, frozen=True, tag_field="edit", tag="set-field"):
    """Set one field of a JSON file; order, indentation and all other fields stay."""

    file: str
    field: tuple[str, ...]
    value: FieldValue


class DeleteField(msgspec.Struct, frozen=True, tag_field="edit", tag="delete-field"):
    """Take one field out of a JSON file."""

    file: str
    field: tuple[str, ...]


class PatchText(msgspec.Struct, frozen=True, tag_field="edit", tag="patch-text"):
    """Apply a unified diff to one text file."""

    file: str
    diff: str


TensorEdit = RenameTensors | ReplaceTensor | InsertTensor | DropTensor | CastTensor
TextEdit = SetField | DeleteField | PatchText
Edit = TensorEdit | TextEdit


def tensors_named(edit: Edit) -> frozenset[str]:
    """Every tensor name, old or new, that the edit declares it touches."""
    if isinstance(edit, RenameTensors):
        return frozenset(edit.names) | frozenset(edit.names.values())
    if isinstance(edit, SetField | DeleteField | PatchText):
        return frozenset()
    return frozenset({edit.tensor})


def inputs_used(edit: Edit) -> frozenset[str]:
    """The inputs whose bytes the edit would write into the subject."""
    if not isinstance(edit, ReplaceTensor | InsertTensor) or isinstance(edit.value, MinusArange):
        return frozenset()
    return frozenset({edit.value.input})
