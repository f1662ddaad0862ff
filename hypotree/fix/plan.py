"""A plan: the staged view described as a value, bound to the digests it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint, tensor_digest
from hypotree.artifact.files import FileTree
from hypotree.artifact.tensor import TensorValue
from hypotree.digest import Digest
from hypotree.fix.stage import StagedTree
from hypotree.model.edit import Edit, InsertTensor, RenameTensors, inputs_used, tensors_named
from hypotree.model.evidence import Read, Scalar
from hypotree.model.fix import FilePlan, Plan, TensorChange

_ROWS = 6


def make_plan(
    node: str,
    fix: str,
    subject_name: str,
    subject: Checkpoint,
    staged: StagedTree,
    edits: tuple[Edit, ...],
) -> Plan:
    """Describe what `staged` changes of `subject`."""
    after = Checkpoint(subject.locator, staged)
    files = tuple(_file_plan(file, subject, after, staged, edits) for file in sorted(staged.staged))
    used = sorted({name for edit in edits for name in inputs_used(edit)})
    return Plan(node, fix, subject_name, edits, files, tuple(used))


def undeclared_changes(
    subject: Checkpoint, staged: StagedTree, edits: tuple[Edit, ...]
) -> tuple[str, ...]:
    """Tensors that differ between the view and the subject though no edit names them."""
    declared = frozenset(name for edit in edits for name in tensors_named(edit))
    before, after = subject, Checkpoint(subject.locator, staged)
    names = {*before.layouts(), *after.layouts()} - declared
    return tuple(
        sorted(
            n
            for n in names
            if before.digest_of("tensor-layout", n) != after.digest_of("tensor-layout", n)
        )
    )


def current_digest(path: Path, read: Read) -> Digest:
    """What `read` of the file at `path` digests to now."""
    if path.suffix == ".safetensors":
        return Checkpoint(str(path)).digest_of(read.kind, read.name)
    return Artifact(str(path)).digest_of(read.kind, read.name)


def changed_reads(path: Path, reads: Iterable[Read]) -> tuple[str, ...]:
    """Names of those reads that no longer digest to what they did."""
    return tuple(
        f"{read.kind} {read.name}" if read.kind != "file" else read.name
        for read in reads
        if current_digest(path, read) != read.sha256
    )


def _file_plan(
    file: str, before: Checkpoint, after: Checkpoint, staged: StagedTree, edits: tuple[Edit, ...]
) -> FilePlan:
    is_shard = file.endswith(".safetensors")
    changes = _changes(file, before, after, edits) if is_shard else ()
    based_on = _reads(file, before, [c.before for c in changes if c.changed or not c.after])
    reads_after = _reads(file, after, [c.after for c in changes if c.changed or not c.before])
    tree: FileTree = staged.base
    return FilePlan(
        name=file,
        path=tree.identity(file).path,
        size_before=tree.open(file).size,
        size_after=staged.open(file).size,
        based_on=based_on,
        after=reads_after,
        tensors=changes,
    )


def _reads(file: str, checkpoint: Checkpoint, tensors: list[str]) -> tuple[Read, ...]:
    kind = "header" if file.endswith(".safetensors") else "file"
    head = Read(kind, file, checkpoint.digest_of(kind, file))
    rest = (Read("tensor", name, checkpoint.digest_of("tensor", name)) for name in tensors if name)
    return (head, *rest)


def _changes(
    file: str, before: Checkpoint, after: Checkpoint, edits: tuple[Edit, ...]
) -> tuple[TensorChange, ...]:
    changes: list[TensorChange] = []
    for edit in edits:
        if isinstance(edit, RenameTensors):
            changes += [
                _renamed(old, new, before)
                for old, new in edit.names.items()
                if _is_in(file, before, old)
            ]
        elif isinstance(edit, InsertTensor):
            changes += [_inserted(edit.tensor, after)] if _is_in(file, after, edit.tensor) else []
        elif _is_in(file, before, edit.tensor):
            changes.append(_replaced(edit.tensor, before, after))
    return tuple(changes)


def _is_in(file: str, checkpoint: Checkpoint, name: str) -> bool:
    where = checkpoint.locate(name)
    return where is not None and where[0] == file


def _renamed(old: str, new: str, before: Checkpoint) -> TensorChange:
    where = before.locate(old)
    assert where is not None
    return TensorChange(old, new, where[1].dtype, where[1].shape)


def _inserted(name: str, after: Checkpoint) -> TensorChange:
    value = after.tensor(name)
    assert value is not None
    rows = tuple((i, None, v) for i, v in enumerate(_elements(value)[:_ROWS]))
    return TensorChange(
        "",
        name,
        value.dtype,
        value.shape,
        None,
        tensor_digest(name, value),
        len(_elements(value)),
        rows,
    )


def _replaced(name: str, before: Checkpoint, after: Checkpoint) -> TensorChange:
    old, new = before.tensor(name), after.tensor(name)
    assert old is not None
    assert new is not None
    pairs = list(zip(_elements(old), _elements(new), strict=True))
    different = [i for i, (a, b) in enumerate(pairs) if a != b]
    rows: tuple[tuple[Scalar, ...], ...] = tuple((i, *pairs[i]) for i in different[:_ROWS])
    return TensorChange(
        name, name, new.dtype, new.shape, tensor_digest(name, old), tensor_digest(name, new),
        len(different), rows,
    )  # fmt: skip


def _elements(value: TensorValue) -> list[int]:
    """Integers as they are; other dtypes as their raw bytes, one number an element."""
    if value.is_integer or value.dtype == "BOOL":
        return value.integers()
    width = max(len(value.data) // max(_count(value), 1), 1)
    return [
        int.from_bytes(value.data[i : i + width], "little")
        for i in range(0, len(value.data), width)
    ]


def _count(value: TensorValue) -> int:
    total = 1
    for size in value.shape:
        total *= size
    return total
