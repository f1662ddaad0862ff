"""The kinds of artifact, and how to open one."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from hypotree.artifact.base import Artifact
from hypotree.artifact.files import FileTree
from hypotree.errors import UnknownNameError

#: Named here, imported when opened: a d2t verdict needs no trace reader.
_READERS: Final = {
    "checkpoint": ("hypotree.artifact.checkpoint", "Checkpoint"),
    "vocabulary-map": ("hypotree.artifact.vocabulary_map", "VocabularyMap"),
    "engine": ("hypotree.artifact.engine", "Engine"),
    "log": ("hypotree.artifact.log", "Log"),
    "trace": ("hypotree.artifact.trace", "Trace"),
    "sample": ("hypotree.artifact.sample", "Sample"),
    "training-config": ("hypotree.artifact.training_config", "TrainingConfig"),
    "tokens": ("hypotree.artifact.token_counts", "TokenCounts"),
    "weights": ("hypotree.artifact.weights", "Weights"),
}
KINDS: Final = tuple(_READERS)


def open_artifact(
    kind: str, locator: str, *, tree: FileTree | None = None, form: str = ""
) -> Artifact:
    """A reader of that kind; nothing is read before it is asked.

    `tree` serves the files instead of the disk: that is how a staged view is probed.
    """
    if kind not in _READERS:
        raise UnknownNameError(
            f"opening {locator} as {kind!r}",
            "no such kind of artifact",
            f"one of {', '.join(KINDS)}",
        )
    module, name = _READERS[kind]
    reader: type[Artifact] = getattr(import_module(module), name)
    return reader(locator, tree=tree, form=form)
