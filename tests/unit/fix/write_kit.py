"""Checkpoints on disk with every byte chosen, the way from edits to swapped files, and sessions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from safetensors import deserialize

from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.artifact.tensor import TensorValue, byte_size
from hypotree.digest import Digest
from hypotree.fix.lock import locked
from hypotree.fix.plan import make_plan
from hypotree.fix.replacement import Replacement, planned, prepare_undo, with_packs
from hypotree.fix.stage import StagedTree, stage
from hypotree.fix.swap import swap
from hypotree.fix.undo import UndoStore
from hypotree.gate import decision
from hypotree.model.edit import Edit
from hypotree.model.fix import FileSwap

NOTHING_CHANGED = tuple


def bf16(*shape: int, seed: int = 1) -> TensorValue:
    return value_of("BF16", shape, seed)


def value_of(dtype: str, shape: tuple[int, ...], seed: int = 1) -> TensorValue:
    size = byte_size(dtype, shape)
    data = hashlib.shake_128(f"{dtype} {shape} {seed}".encode()).digest(size)
    return TensorValue(dtype, shape, bytes(b & 1 for b in data) if dtype == "BOOL" else data)


def ids(*values: int, dtype: str = "I64") -> TensorValue:
    return TensorValue.of_integers(dtype, (len(values),), list(values))


def write_safetensors(path: Path, tensors, metadata=None, *, room=0, order=None) -> Path:
    """`tensors` in the order of the dict; the header's entries in `order`, padded to `room` bytes."""
    entries, at = {}, 0
    for name, value in tensors.items():
        end = at + len(value.data)
        entries[name] = {
            "dtype": value.dtype, "shape": list(value.shape), "data_offsets": [at, end],
        }  # fmt: skip
        at = end
    head = {} if metadata is None else {"__metadata__": metadata}
    head |= {name: entries[name] for name in order or entries}
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
    text = text.ljust(max(room, len(text) + -len(text) % 8))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        len(text).to_bytes(8, "little") + text + b"".join(v.data for v in tensors.values())
    )
    return path


def write_shards(folder: Path, shards, *, extra=None) -> Path:
    """Several files with an index over them, its total_size true."""
    weight_map, total = {}, 0
    for file, tensors in shards.items():
        write_safetensors(folder / file, tensors, {"format": "pt"})
        weight_map |= dict.fromkeys(tensors, file)
        total += sum(len(v.data) for v in tensors.values())
    index = {"metadata": {"total_size": total}, **(extra or {}), "weight_map": weight_map}
    (folder / INDEX).write_text(json.dumps(index))
    return folder


def as_the_library_reads(path: Path) -> dict[str, TensorValue]:
    """Every tensor of a file through safetensors' own reader."""
    return {
        name: TensorValue(at["dtype"], tuple(at["shape"]), bytes(at["data"]))
        for name, at in deserialize(path.read_bytes())
    }


def folder_as_the_library_reads(folder: Path) -> dict[str, TensorValue]:
    found: dict[str, TensorValue] = {}
    for path in sorted(folder.glob("*.safetensors")):
        found |= as_the_library_reads(path)
    return found


def sha256_of(*paths: Path) -> tuple[str, ...]:
    return tuple(hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@dataclass
class Prepared:
    """A plan with its packs on disk, one call away from being written."""

    permit: decision.Permit
    replacements: tuple[Replacement, ...]

    def write(self, recheck=NOTHING_CHANGED) -> tuple[FileSwap, ...]:
        with locked(r.path for r in self.replacements):
            swap(self.replacements, self.permit, recheck, "test")
        return tuple(r.record() for r in self.replacements)


def staged(locator: Path, *edits: Edit, **artifacts: Path) -> StagedTree:
    readers = {name: Checkpoint(str(path)) for name, path in artifacts.items()}
    return stage(Checkpoint(str(locator)), edits, readers)


def prepared(locator: Path, undo: Path, *edits: Edit, **artifacts: Path) -> Prepared:
    readers = {name: Checkpoint(str(path)) for name, path in artifacts.items()}
    subject = Checkpoint(str(locator))
    view = stage(subject, edits, readers)
    plan = make_plan("H1", "by-hand", "draft", subject, view, edits)
    said = ("H1", "by-hand", plan, Digest.of(b"evidence"))
    permit = decision.Permit(*said, seal=decision._seal(*said))
    return Prepared(permit, with_packs(planned(permit, view), UndoStore(undo)))


def undone(swaps: tuple[FileSwap, ...], undo: Path) -> tuple[FileSwap, ...]:
    with locked(Path(s.path) for s in swaps):
        replacements = prepare_undo(swaps, UndoStore(undo))
        swap(replacements, None, NOTHING_CHANGED, "test")
    return tuple(r.record() for r in replacements)


TARGETS = (0, 1, 5, 9, 20, 21, 40, 63)
OFFSETS = tuple(t - i for i, t in enumerate(TARGETS))
_CONFIG = {"vocab_size": 64, "draft_vocab_size": 8, "hidden_size": 4}


def write_session(folder: Path, draft: str, *, fault: str, fix: str, approve: str = "auto") -> Path:
    """A session whose H1 is `fault`; its draft is a path relative to it."""
    write_safetensors(folder / "truth.safetensors", {"d2t": ids(*OFFSETS)})
    (folder / "session.yaml").write_text(
        json.dumps(
            {
                "hypotree": 1,
                "symptom": {"what": "nothing is accepted"},
                "artifacts": {
                    "draft": {"path": draft, "role": "subject"},
                    "map": {"path": "truth.safetensors", "role": "truth"},
                },
                "hypotheses": {
                    "H1": {
                        "claim": "the map is wrong", "fault": fault, "probe": "d2t-format",
                        "inputs": {"draft": "draft", "truth": "map"}, "fix": fix,
                    }
                },
                "policy": {"approve": approve},
            }
        )
    )  # fmt: skip
    return folder


def write_draft_with_absolute_ids(folder: Path, *, rows: int = 4) -> Path:
    """One file; d2t holds target ids where offsets belong."""
    write_safetensors(
        folder / "model.safetensors",
        {"lm_head.weight": bf16(8, rows), "d2t": ids(*TARGETS), "norm.weight": bf16(rows)},
        {"format": "pt"},
    )
    (folder / "config.json").write_text(json.dumps(_CONFIG))
    return folder


def write_draft_without_map(folder: Path, *, rows: int = 4) -> Path:
    """Two shards and an index; d2t is missing, so that its fix touches a shard and the index."""
    write_shards(
        folder,
        {
            "model-00001-of-00002.safetensors": {"lm_head.weight": bf16(8, rows)},
            "model-00002-of-00002.safetensors": {"norm.weight": bf16(rows)},
        },
    )
    (folder / "config.json").write_text(json.dumps(_CONFIG))
    return folder


def session_to_replace(folder: Path, *, rows: int = 4) -> Path:
    write_draft_with_absolute_ids(folder / "draft", rows=rows)
    return write_session(folder, "draft", fault="d2t.absolute-ids", fix="d2t-to-offsets")


def session_to_insert(folder: Path, *, rows: int = 4) -> Path:
    write_draft_without_map(folder / "draft", rows=rows)
    return write_session(folder, "draft", fault="d2t.missing", fix="insert-tensor")
