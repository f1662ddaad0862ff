"""What a file is, by its content: a map, a sample, a log, a trace, a training config."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hypotree.artifact.documents import Limits, read_json, read_yaml
from hypotree.artifact.files import DiskFile
from hypotree.artifact.npy_file import read_npy
from hypotree.artifact.safetensors_header import read_header
from hypotree.artifact.tensor import TensorValue
from hypotree.artifact.torch_file import peek_torch_file
from hypotree.artifact.training_config import train_record
from hypotree.digest import Digest
from hypotree.errors import HypotreeError

#: Larger files are not opened to see what they are: name them by flag.
MAX_PICKLED: Final = 64 * 1024 * 1024
_TEXT_BYTES: Final = 1024 * 1024
_DOCUMENT: Final = Limits(size=256 * 1024, depth=32, nodes=20_000)
_STATES: Final = ("hidden_states", "hidden_state", "aux_hidden_states", "aux_hidden_state")
#: facts/eagle3.md section 7: what SGLang, vLLM and TensorRT-LLM write.
_COUNTERS: Final = (b"accept len:", b"SpecDecoding metrics:", b'"specDecodingStats"')
_TEXT: Final = (".log", ".txt", ".out", ".err", ".jsonl", ".json")
_TORCH: Final = (".pt", ".pth", ".ckpt")


@dataclass(frozen=True)
class Seen:
    """What a file turned out to be."""

    kind: str
    why: str
    length: int | None = None
    """Of a map: how many draft ids it has."""
    digest: Digest | None = None
    """Of a map: its values, so that two copies of one map are no contradiction."""


def recognise(path: Path) -> Seen | None:
    """What `path` holds, None for what is nothing of ours or cannot be read."""
    try:
        return _recognise(path)
    except (HypotreeError, OSError, RecursionError, ValueError):
        return None


def _recognise(path: Path) -> Seen | None:
    suffix = path.suffix.lower()
    if suffix in _TORCH and path.stat().st_size <= MAX_PICKLED:
        return _of_torch(peek_torch_file(DiskFile(path), path.name))
    if suffix == ".npy" and "t2d" not in path.name and path.stat().st_size <= MAX_PICKLED:
        return _of_tensor(read_npy(DiskFile(path), path.name))
    if suffix == ".safetensors":
        return _of_safetensors(path)
    if suffix in {".yaml", ".yml"}:
        return _of_document(read_yaml(DiskFile(path), path.name, _DOCUMENT))
    if suffix in _TEXT:
        return _of_text(path)
    return None


def _of_torch(value: object) -> Seen | None:
    if isinstance(value, TensorValue):
        return _of_tensor(value)
    if not isinstance(value, dict):
        return None
    if any(isinstance(value.get(key), TensorValue) for key in _STATES):
        return Seen("sample", "it holds hidden states")
    d2t = value.get("d2t")
    return _of_tensor(d2t) if isinstance(d2t, TensorValue) else None


def _of_tensor(value: TensorValue) -> Seen | None:
    if len(value.shape) != 1 or not value.is_integer:
        return None
    digest = Digest.of(repr(value.integers()).encode())
    return Seen("vocabulary-map", f"it holds {value.shape[0]} ids", value.shape[0], digest)


def _of_safetensors(path: Path) -> Seen | None:
    names = read_header(DiskFile(path), path.name).tensors
    if set(names) & set(_STATES):
        return Seen("sample", "it holds hidden states")
    if set(names) <= {"d2t", "t2d"} and "d2t" in names:
        at = names["d2t"]
        data = DiskFile(path).read(at.begin, at.end - at.begin)
        return _of_tensor(TensorValue(at.dtype, at.shape, data))
    return None


def _of_document(value: object) -> Seen | None:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        return None
    record = train_record(value)
    if record is None:
        return None
    return Seen("training-config", f"a {record.form} file of {record.producer}")


def _of_text(path: Path) -> Seen | None:
    head, tail = _ends(path)
    if b'"trace_start"' in head[:4096]:
        return Seen("trace", "its first line starts a trace")
    if any(word in head or word in tail for word in _COUNTERS):
        return Seen("log", "it has acceptance counters")
    if path.suffix == ".json" and len(head) < _DOCUMENT.size:
        return _of_document(read_json(DiskFile(path), path.name, _DOCUMENT))
    return None


def _ends(path: Path) -> tuple[bytes, bytes]:
    """The first and the last megabyte: counters come late in a server's log."""
    file = DiskFile(path)
    size = min(file.size, _TEXT_BYTES)
    head = file.read(0, size)
    return head, file.read(file.size - size, size) if file.size > size else b""
