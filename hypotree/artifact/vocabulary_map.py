"""Vocabulary maps outside the checkpoint: d2t.pt bare or dict, .npy, safetensors, cache.pt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint, tensor_digest
from hypotree.artifact.npy_file import read_npy
from hypotree.artifact.tensor import TensorValue
from hypotree.artifact.torch_file import read_torch_file
from hypotree.digest import ABSENT, Digest
from hypotree.errors import UnreadableError

#: File names under which the producers save their maps (facts: SpecForge 0.2.0
#: training/assembly.py, speculators 0.9.0 train/cli.py, ModelOpt calibrate_draft_vocab.py,
#: EAGLE traineagle3/cnets.py).
_FOLDER_NAMES = ("vocab_mapping.pt", "d2t.pt", "cache.pt", "d2t.npy")
_TORCH = (".pt", ".pth", ".bin", ".ckpt")


@dataclass(frozen=True)
class StoredMap:
    """What the file holds: `d2t` integer [draft vocabulary], `t2d` bool [vocabulary], either may be None."""

    d2t: TensorValue | None
    t2d: TensorValue | None
    file: str


class VocabularyMap(Artifact):
    """One vocabulary map, read once and noted whole."""

    kind: ClassVar[str] = "vocabulary-map"

    def stored(self) -> StoredMap:
        """The tensors as they are stored, in whatever form that is."""
        name = self._map_file()
        if name.endswith(".safetensors"):
            return self._from_checkpoint(name)
        self.note("file", name, self._file_digest(name))
        found = self._load(name)
        if found.d2t is None and found.t2d is None:
            raise UnreadableError(
                f"reading {self.locator} as a vocabulary map", "it holds neither d2t nor t2d"
            )
        return found

    def members(self) -> tuple[str, ...]:
        """The one file that is read (and t2d beside a .npy)."""
        name = self._map_file()
        beside = name.replace("d2t", "t2d")
        return (name, beside) if beside != name and self._is_pair(beside) else (name,)

    def digest_of(self, kind: str, name: str) -> Digest:
        """What `name` digests to now."""
        if kind == "tensor":
            return self._checkpoint().digest_of(kind, name)
        return super().digest_of(kind, name)

    def _map_file(self) -> str:
        names = self.tree.names()
        if len(names) == 1 or Path(self.locator).is_file():
            return Path(self.locator).name if Path(self.locator).is_file() else names[0]
        for wanted in _FOLDER_NAMES:
            if wanted in names:
                return wanted
        for name in names:
            if name.startswith("d2t") and name.endswith(".npy"):
                return name
        if "model.safetensors" in names:
            return "model.safetensors"
        raise UnreadableError(
            f"reading {self.locator} as a vocabulary map",
            "no d2t.pt, vocab_mapping.pt, cache.pt, d2t*.npy or model.safetensors in it",
            "give the file itself",
        )

    def _is_pair(self, name: str) -> bool:
        return name.endswith(".npy") and self.tree.has(name)

    def _load(self, name: str) -> StoredMap:
        if name.endswith(".npy"):
            beside = name.replace("d2t", "t2d")
            t2d = None
            if beside != name and self._is_pair(beside):
                self.note("file", beside, self._file_digest(beside))
                t2d = read_npy(self.tree.open(beside), beside)
            value = read_npy(self.tree.open(name), name)
            return StoredMap(None, value, name) if _is_mask(value) else StoredMap(value, t2d, name)
        if name.endswith(_TORCH):
            return _from_torch(read_torch_file(self.tree.open(name), name), name)
        raise UnreadableError(
            f"reading {self.locator} as a vocabulary map",
            f"{name} is none of .pt, .npy, .safetensors",
        )

    def _checkpoint(self) -> Checkpoint:
        """The one file only: a shard that appears beside it must not answer in its place."""
        return Checkpoint(str(self.tree.root / self._map_file()))

    def _from_checkpoint(self, name: str) -> StoredMap:
        checkpoint = self._checkpoint()
        found = {key: checkpoint.tensor(key) for key in ("d2t", "t2d")}
        for key, value in found.items():
            self.note("tensor", key, ABSENT if value is None else tensor_digest(key, value))
        if found["d2t"] is None and found["t2d"] is None:
            raise UnreadableError(f"reading {self.locator}", "it holds neither d2t nor t2d")
        return StoredMap(found["d2t"], found["t2d"], name)


def _from_torch(loaded: object, name: str) -> StoredMap:
    if isinstance(loaded, TensorValue):
        return StoredMap(None, loaded, name) if _is_mask(loaded) else StoredMap(loaded, None, name)
    if not isinstance(loaded, dict):
        raise UnreadableError(f"reading {name} as a vocabulary map", "neither a tensor nor a dict")
    d2t, t2d = (loaded.get(key) for key in ("d2t", "t2d"))
    return StoredMap(
        d2t if isinstance(d2t, TensorValue) else None,
        t2d if isinstance(t2d, TensorValue) else None,
        name,
    )


def _is_mask(value: TensorValue) -> bool:
    """A bare tensor of truth values is a t2d: it marks target ids."""
    return value.dtype == "BOOL"
