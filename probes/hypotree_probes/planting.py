"""Small checkpoints for planted faults and healthy twins; standard library only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hypotree.artifact.tensor import TensorValue, byte_size


def plant_checkpoint(
    folder: Path, tensors: Mapping[str, TensorValue], config: Mapping[str, object] | None = None
) -> str:
    """Write model.safetensors (and config.json) into a new folder `draft`; returns its path."""
    draft = folder / "draft"
    draft.mkdir(parents=True, exist_ok=True)
    (draft / "model.safetensors").write_bytes(safetensors_bytes(tensors))
    if config is not None:
        (draft / "config.json").write_text(json.dumps(config))
    return str(draft)


def safetensors_bytes(tensors: Mapping[str, TensorValue]) -> bytes:
    """A safetensors file holding `tensors` in order."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, value in tensors.items():
        header[name] = {
            "dtype": value.dtype,
            "shape": list(value.shape),
            "data_offsets": [at, at + len(value.data)],
        }
        at += len(value.data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(v.data for v in tensors.values())


def ids(values: list[int], dtype: str = "I64") -> TensorValue:
    """A one-dimensional integer tensor."""
    return TensorValue.of_integers(dtype, (len(values),), values)


def mask(marked: list[int], size: int) -> TensorValue:
    """A boolean tensor of `size` with the given positions True."""
    chosen = set(marked)
    return TensorValue("BOOL", (size,), bytes(int(i in chosen) for i in range(size)))


def blank(dtype: str, *shape: int) -> TensorValue:
    """A tensor of zero bytes."""
    return TensorValue(dtype, shape, bytes(byte_size(dtype, shape)))
