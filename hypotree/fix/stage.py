"""Build the edited files beside the target, in memory and by reference only."""

from __future__ import annotations

from collections.abc import Mapping

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.errors import MisuseError
from hypotree.fix import shard_edits
from hypotree.fix.cast import cast
from hypotree.fix.segments import SegmentedFile
from hypotree.fix.shard_file import index_file, shard_file
from hypotree.fix.staged_tree import StagedTree
from hypotree.fix.text_edits import edit_text
from hypotree.fix.values import resolve
from hypotree.model.edit import (
    CastTensor,
    DropTensor,
    Edit,
    InsertTensor,
    RenameTensors,
    TensorEdit,
    TextEdit,
)

__all__ = ["StagedTree", "stage"]


def stage(
    subject: Artifact, edits: tuple[Edit, ...], artifacts: Mapping[str, Artifact]
) -> StagedTree:
    """The subject's folder with `edits` made; `MisuseError` if one does not fit what is there."""
    tensor_edits = [edit for edit in edits if not isinstance(edit, TextEdit)]
    staged: dict[str, SegmentedFile] = {}
    if tensor_edits:
        if not isinstance(subject, Checkpoint):
            raise MisuseError("planning a fix", f"{subject.locator} is no checkpoint: no tensors")
        staged |= _stage_tensors(subject, tensor_edits, artifacts)
    for edit in edits:
        if isinstance(edit, TextEdit):
            name, file = edit_text(subject.tree, staged, edit)
            staged[name] = file
    return StagedTree(subject.tree, staged)


def _stage_tensors(
    subject: Checkpoint, edits: list[TensorEdit], artifacts: Mapping[str, Artifact]
) -> dict[str, SegmentedFile]:
    shards = {file: shard_edits.tensors_of(h) for file, h in subject.headers().items()}
    for edit in edits:
        _make(shards, edit, subject, artifacts)
    files = ((file, shard_file(subject, file, tensors)) for file, tensors in shards.items())
    changed = {file: new for file, new in files if new is not None}
    return changed | index_file(subject, shards)


def _make(
    shards: shard_edits.Shards,
    edit: TensorEdit,
    subject: Checkpoint,
    artifacts: Mapping[str, Artifact],
) -> None:
    if isinstance(edit, RenameTensors):
        shard_edits.rename(shards, edit.names)
    elif isinstance(edit, InsertTensor):
        value = resolve(edit.value, edit.dtype, subject, artifacts)
        shard_edits.insert(shards, edit.tensor, value)
    elif isinstance(edit, DropTensor):
        shard_edits.drop(shards, edit.tensor)
    elif isinstance(edit, CastTensor):
        old = shard_edits.find(shards, edit.tensor)
        stored = subject.tensor(old.old_name) if old.old_name else None
        if stored is None:
            raise MisuseError("planning a cast", f"{edit.tensor!r} is new in the same plan")
        shard_edits.recast(shards, edit.tensor, cast(stored, edit.dtype))
    else:
        dtype = shard_edits.find(shards, edit.tensor).dtype
        value = resolve(edit.value, dtype, subject, artifacts)
        shard_edits.replace(shards, edit.tensor, value)
