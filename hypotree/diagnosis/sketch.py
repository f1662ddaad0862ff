"""A first look at a checkpoint: its sizes and what kind of thing it is, however broken it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.safetensors_header import TensorLayout
from hypotree.diagnosis.playbook import Playbook, Subject
from hypotree.errors import HypotreeError

_NESTED: Final = ("transformer_layer_config", "text_config", "llm_config", "language_config")
_SHAPED: Final = ("d2t", "lm_head.weight")


@dataclass(frozen=True)
class Sketch:
    """What a config and headers say; empty where they cannot be read."""

    config: Mapping[str, object]
    layouts: Mapping[str, TensorLayout]
    problem: str = ""
    """Why config or headers cannot be read."""

    def number(self, name: str) -> int | None:
        """An integer field, at top level or in a nested model config."""
        nested = (self.config.get(key) for key in _NESTED)
        for place in (self.config, *(n for n in nested if isinstance(n, dict))):
            value = place.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None

    @property
    def draft_vocabulary(self) -> int | None:
        """How many draft ids there are, by the config, else by the map's or head's length."""
        said = self.number("draft_vocab_size")
        shapes = {name.rpartition(".")[2] if name.endswith("d2t") else name: at.shape
                  for name, at in self.layouts.items()}  # fmt: skip
        rows = (shapes[name][0] for name in _SHAPED if shapes.get(name))
        return said if said is not None else next(rows, None)

    @property
    def architectures(self) -> tuple[str, ...]:
        """Class names that the config gives."""
        names = self.config.get("architectures")
        return tuple(n for n in names if isinstance(n, str)) if isinstance(names, list) else ()

    @property
    def verifier(self) -> str:
        """The target by path or hub id, where a speculators config names it."""
        value: object = self.config
        for key in ("speculators_config", "verifier", "name_or_path"):
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, str) else ""


def sketch(path: Path) -> Sketch:
    """The sketch of the checkpoint at `path`; never raises for what is in it."""
    config: Mapping[str, object] = {}
    layouts: Mapping[str, TensorLayout] = {}
    problem = ""
    try:
        checkpoint = Checkpoint(str(path))
        config = checkpoint.config()
    except (HypotreeError, OSError) as error:
        problem = str(error)
    try:
        layouts = Checkpoint(str(path)).layouts()
    except (HypotreeError, OSError) as error:
        problem = problem or str(error)
    return Sketch(config, layouts, problem)


def subject_of(found: Sketch, playbook: Playbook) -> Subject | None:
    """What the playbook calls such a checkpoint; None if nothing in it matches."""
    return next((subject for subject in playbook.subjects if _matches(found, subject)), None)


def _matches(found: Sketch, subject: Subject) -> bool:
    if any(found.config.get(field) is not None for field in subject.fields):
        return True
    if any(fnmatchcase(a, p) for a in found.architectures for p in subject.architectures):
        return True
    if any(fnmatchcase(name, p) for name in found.layouts for p in subject.tensors):
        return True
    wanted = subject.tensors_all
    return bool(wanted) and all(any(fnmatchcase(n, p) for n in found.layouts) for p in wanted)
