"""A plan: the staged view described as a value, bound to the digests it was made from."""

from __future__ import annotations

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.kinds import open_artifact
from hypotree.fix.field_changes import field_changes, text_difference
from hypotree.fix.staged_tree import StagedTree
from hypotree.fix.tensor_changes import tensor_changes
from hypotree.model.edit import Edit, inputs_used, tensors_named
from hypotree.model.evidence import Read
from hypotree.model.fix import FilePlan, Plan


def make_plan(
    node: str, fix: str, subject_name: str, subject: Artifact, staged: StagedTree,
    edits: tuple[Edit, ...],
) -> Plan:  # fmt: skip
    """Describe what `staged` changes of `subject`."""
    after = open_artifact(subject.kind, subject.locator, tree=staged, form=subject.form)
    files = tuple(_file_plan(file, subject, after, staged, edits) for file in sorted(staged.staged))
    used = sorted({name for edit in edits for name in inputs_used(edit)})
    return Plan(node, fix, subject_name, edits, files, tuple(used))


def undeclared_changes(
    subject: Artifact, staged: StagedTree, edits: tuple[Edit, ...]
) -> tuple[str, ...]:
    """Tensors that differ between the view and the subject though no edit names them."""
    if not isinstance(subject, Checkpoint):
        return ()
    declared = frozenset(name for edit in edits for name in tensors_named(edit))
    before, after = subject, Checkpoint(subject.locator, staged)
    names = {*before.layouts(), *after.layouts()} - declared
    kind = "tensor-layout"
    return tuple(sorted(n for n in names if before.digest_of(kind, n) != after.digest_of(kind, n)))


def _file_plan(
    file: str, before: Artifact, after: Artifact, staged: StagedTree, edits: tuple[Edit, ...]
) -> FilePlan:
    old, new = staged.base.open(file), staged.staged[file]
    common = {
        "name": file,
        "path": staged.base.identity(file).path,
        "size_before": old.size,
        "size_after": new.size,
        "bytes_fresh": new.fresh_bytes,
    }
    if not (file.endswith(".safetensors") and isinstance(before, Checkpoint)):
        return FilePlan(
            **common,  # type: ignore[arg-type]
            based_on=(_whole(file, before),),
            after=(_whole(file, after),),
            fields=field_changes(old, new, file),
            lines=text_difference(old, new, file),
        )
    assert isinstance(after, Checkpoint)
    changes = tensor_changes(file, before, after, edits)
    return FilePlan(
        **common,  # type: ignore[arg-type]
        based_on=_reads(file, before, [c.before for c in changes if c.changed or not c.after]),
        after=_reads(file, after, [c.after for c in changes if c.changed or not c.before]),
        tensors=changes,
    )


def _whole(file: str, artifact: Artifact) -> Read:
    return Read("file", file, artifact.digest_of("file", file))


def _reads(file: str, checkpoint: Checkpoint, tensors: list[str]) -> tuple[Read, ...]:
    head = Read("header", file, checkpoint.digest_of("header", file))
    rest = (Read("tensor", name, checkpoint.digest_of("tensor", name)) for name in tensors if name)
    return (head, *rest)
