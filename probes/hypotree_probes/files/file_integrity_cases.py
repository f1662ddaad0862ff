"""Planted faults and healthy twins of file-integrity: a checkpoint of two small shards."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hypotree.artifact.checkpoint import INDEX
from hypotree.probe.api import Case
from hypotree_probes.planting import blank, safetensors_bytes

if TYPE_CHECKING:
    from pathlib import Path

FIRST: Final = "model-00001-of-00002.safetensors"
SECOND: Final = "model-00002-of-00002.safetensors"
_Locators = Mapping[str, str]


def plant_shards(folder: Path) -> dict[str, str]:
    """Two shards and an index that is true."""
    draft = folder / "draft"
    draft.mkdir()
    (draft / FIRST).write_bytes(safetensors_bytes({"fc.weight": blank("F32", 8, 24)}))
    (draft / SECOND).write_bytes(safetensors_bytes({"norm.weight": blank("F32", 8)}))
    write_index(draft, {"fc.weight": FIRST, "norm.weight": SECOND})
    return {"draft": str(draft)}


def write_index(draft: Path, weights: Mapping[str, str]) -> None:
    """An index with this weight_map."""
    (draft / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": dict(weights)}))


def cut_end(path: Path, count: int) -> None:
    """Drop the last bytes of a file."""
    path.write_bytes(path.read_bytes()[:-count])


def _truncated(folder: Path) -> _Locators:
    given = plant_shards(folder)
    cut_end(folder / "draft" / FIRST, 100)
    return given


def _bad_header(folder: Path) -> _Locators:
    given = plant_shards(folder)
    path = folder / "draft" / FIRST
    path.write_bytes(path.read_bytes().replace(b'"shape": [8, 24]', b'"shape": [8, 23]'))
    return given


def _missing(folder: Path) -> _Locators:
    given = plant_shards(folder)
    third = "model-00003-of-00003.safetensors"
    write_index(folder / "draft", {"fc.weight": FIRST, "norm.weight": SECOND, "d2t": third})
    return given


def _mismatch(folder: Path) -> _Locators:
    given = plant_shards(folder)
    write_index(folder / "draft", {"fc.weight": SECOND, "norm.weight": SECOND})
    return given


def _linked_shards(folder: Path) -> _Locators:
    given = plant_shards(folder)
    (folder / "draft" / "model-again.safetensors").hardlink_to(folder / "draft" / FIRST)
    return given


def _linked_copy(folder: Path) -> _Locators:
    good = _good_folder(folder)
    given = plant_shards(folder)
    (good / FIRST).hardlink_to(folder / "draft" / FIRST)
    return {**given, "truth": str(good)}


def _real_copy(folder: Path) -> _Locators:
    good = _good_folder(folder)
    given = plant_shards(folder)
    shutil.copyfile(folder / "draft" / FIRST, good / FIRST)
    return {**given, "truth": str(good)}


def _good_folder(folder: Path) -> Path:
    good = folder / "good"
    good.mkdir()
    return good


def _two_saves(folder: Path) -> _Locators:
    given = plant_shards(folder)
    (folder / "draft" / INDEX).unlink()
    shutil.copyfile(folder / "draft" / FIRST, folder / "draft" / "model-old.safetensors")
    return given


def _no_index(folder: Path) -> _Locators:
    given = plant_shards(folder)
    (folder / "draft" / INDEX).unlink()
    return given


def plant_hub_cache(folder: Path, *, is_altered: bool) -> dict[str, str]:
    """A snapshot that links to its blob; the blob was written in place if it is altered."""
    data = safetensors_bytes({"fc.weight": blank("F32", 8, 24)})
    blob = folder / "models--a--b" / "blobs" / hashlib.sha256(data).hexdigest()
    snapshot = folder / "models--a--b" / "snapshots" / "main"
    blob.parent.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    blob.write_bytes(data[:-1] + b"\1" if is_altered else data)
    (snapshot / "model.safetensors").symlink_to(blob)
    return {"draft": str(snapshot)}


CASES: Final = (
    Case("file.index-mismatch", _two_saves, _no_index, report="two saves in one folder"),
    Case(
        "file.digest-mismatch",
        lambda folder: plant_hub_cache(folder, is_altered=True),
        lambda folder: plant_hub_cache(folder, is_altered=False),
        {"digests": 1},
        report="K6, K8: written through a link into the cache",
    ),
    Case("file.truncated", _truncated, plant_shards, report="F27"),
    Case("file.bad-header", _bad_header, plant_shards),
    Case("file.index-missing-shard", _missing, plant_shards, report="F28"),
    Case("file.index-mismatch", _mismatch, plant_shards),
    Case("file.aliased", _linked_shards, plant_shards),
    Case("file.aliased", _linked_copy, _real_copy, report="F29"),
)
