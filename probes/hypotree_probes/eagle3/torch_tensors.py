"""Stored tensors as torch ones; torch is imported here, late."""

from __future__ import annotations

import torch
from torch import Tensor

from hypotree.artifact.tensor import TensorValue
from hypotree.errors import MalformedError

_DTYPES = {
    "BOOL": torch.bool, "U8": torch.uint8, "I8": torch.int8, "I16": torch.int16,
    "I32": torch.int32, "I64": torch.int64, "F16": torch.float16, "BF16": torch.bfloat16,
    "F32": torch.float32, "F64": torch.float64,
    "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
}  # fmt: skip


def to_torch(value: TensorValue) -> Tensor:
    """The tensor with its dtype and shape; a copy, so that nothing can write into what was read."""
    dtype = _DTYPES.get(value.dtype)
    if dtype is None:
        raise MalformedError("computing with a tensor", f"dtype {value.dtype} is not supported")
    if not value.data:
        return torch.zeros(value.shape, dtype=dtype)
    return torch.frombuffer(bytearray(value.data), dtype=dtype).reshape(value.shape)
