"""Training configs: a run's YAML or JSON file, or a folder with the config.json that was saved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from hypotree.artifact.base import Artifact
from hypotree.artifact.documents import as_mapping, read_json, read_yaml
from hypotree.errors import UnreadableError

_SAVED = "config.json"


class TrainingConfig(Artifact):
    """What the draft was trained with, as plain data."""

    kind: ClassVar[str] = "training-config"

    @property
    def name(self) -> str:
        """The file that is read."""
        path = Path(self.locator)
        return path.name if path.is_file() else _SAVED

    def mapping(self) -> Mapping[str, object]:
        """The whole document; `UnreadableError` if there is none."""
        name = self.name
        file = self.file(name)
        if file is None:
            raise UnreadableError(
                f"reading {self.locator} as a training config",
                f"there is no {name}",
                "give the run's YAML or JSON file, or the folder of the saved config.json",
            )
        if name.endswith((".yaml", ".yml")):
            return as_mapping(read_yaml(file, name), name)
        return as_mapping(read_json(file, name), name)
