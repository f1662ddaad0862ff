"""A plan: the staged view described as a value, bound to the digests it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint, tensor_digest
from hypotree.artifact.files import FileTree
from hypotree.digest import Digest
from hypotree.fix.difference import differing_elements, element, element_width
from hypotree.fix.stage import StagedTree
from hypotree.model.edit import Edit, InsertTensor, RenameTensors, inputs_used, tensors_named
from hypotree.model.evidence import Read
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
    return tuple(_name(read) for read in reads if current_digest(path, read) != read.sha256)


def differing_reads(path: Path, reads: Iterable[Read]) -> tuple[str, ...]:
    """The same, each with what it digests to and what it should."""
    return tuple(
        f"{_name(read)} is {now.short}…, was left as {read.sha256.short}…"
        for read in reads
        if (now := current_digest(path, read)) != read.sha256
    )


def _name(read: Read) -> str:
    return read.name if read.kind == "file" else f"{read.kind} {read.name}"


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
    """Of the tensors that are in `file` afterwards; no edit moves one to another file."""
    changes: list[TensorChange] = []
    for new, (old, has_new_bytes) in _lineage(edits).items():
        where = after.locate(new)
        if where is None or where[0] != file:
            continue
        if not old:
            changes.append(_inserted(new, after))
        elif has_new_bytes:
            changes.append(_replaced(old, new, before, after))
        elif old != new:
            changes.append(TensorChange(old, new, where[1].dtype, where[1].shape))
    return tuple(changes)


def _lineage(edits: tuple[Edit, ...]) -> dict[str, tuple[str, bool]]:
    """Each touched tensor by its last name: its first ("" if it is new), and if its bytes are new."""
    touched: dict[str, tuple[str, bool]] = {}
    for edit in edits:
        if isinstance(edit, RenameTensors):
            touched |= {new: touched.pop(old, (old, False)) for old, new in edit.names.items()}
        elif isinstance(edit, InsertTensor):
            touched[edit.tensor] = ("", True)
        else:
            touched[edit.tensor] = (touched.get(edit.tensor, (edit.tensor, True))[0], True)
    return touched


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
    count, first = differing_elements(old, new, _ROWS)
    return TensorChange(
        before=old_name,
        after=new_name,
        dtype=new.dtype,
        shape=new.shape,
        before_sha256=tensor_digest(old_name, old),
        after_sha256=tensor_digest(new_name, new),
        changed=count,
        rows=tuple((i, element(old, i), element(new, i)) for i in first),
    )
