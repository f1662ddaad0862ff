"""From declared names to bound inputs: where each artifact is, and as what it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hypotree.artifact.base import Artifact as Reader
from hypotree.artifact.files import FileTree
from hypotree.artifact.kinds import open_artifact
from hypotree.errors import MisuseError, UnknownNameError
from hypotree.model.declaration import Artifact, Binding
from hypotree.probe import Input
from hypotree.probe.registry import probe_class
from hypotree.probe.runner import BoundInput


def resolve_path(folder: Path, artifact: Artifact) -> str:
    """Where an artifact is: relative paths start at the session's folder, engine specs stay specs."""
    spec = artifact.path
    if spec.partition("@")[0] in {"sglang", "vllm"} or spec == "trtllm":
        return spec
    engine, colon, path = spec.partition(":")
    if colon and engine in {"sglang", "vllm"}:
        return f"{engine}:{_absolute(folder, path)}"
    return _absolute(folder, spec)


def bind(
    folder: Path,
    probe: str,
    inputs: Mapping[str, Binding],
    artifacts: Mapping[str, Artifact],
    trees: Mapping[str, FileTree] | None = None,
) -> tuple[BoundInput, ...]:
    """The inputs of a probe with readers' kinds and roles; `trees` stages artifacts by name."""
    taken = {t.name: t for t in probe_class(probe).takes}
    bound = []
    for name, binding in inputs.items():
        if name not in taken:
            raise MisuseError(
                f"binding {name!r} to {probe}",
                "it takes no such input",
                f"it takes {', '.join(taken)}",
            )
        artifact = artifacts.get(binding.artifact)
        if artifact is None:
            raise UnknownNameError(
                f"binding {name!r}", f"no artifact {binding.artifact!r} is declared"
            )
        bound.append(_bound(folder, taken[name], binding, artifact, trees or {}))
    return tuple(bound)


def open_bound(bound: BoundInput) -> Reader:
    """A fresh reader over a bound input."""
    return open_artifact(bound.kind, bound.locator, tree=bound.tree, form=bound.form)


def _bound(
    folder: Path, taken: Input, binding: Binding, artifact: Artifact, trees: Mapping[str, FileTree]
) -> BoundInput:
    return BoundInput(
        name=taken.name,
        kind=taken.kind,
        role=binding.role or artifact.role,
        locator=resolve_path(folder, artifact),
        form=artifact.form,
        tree=trees.get(binding.artifact),
    )


def _absolute(folder: Path, path: str) -> str:
    # The session's folder is resolved, what it names is not: whether that is a link matters to a swap.
    return os.path.normpath(folder.resolve() / Path(path).expanduser())
