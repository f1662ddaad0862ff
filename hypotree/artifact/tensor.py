"""Tensor values as bytes with a dtype and a shape; no tensor library is needed to compare ids."""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from math import prod

from hypotree.errors import MalformedError

#: Bits per element, by safetensors' dtype names (safetensors 0.8.0, tensor.rs `Dtype`).
DTYPE_BITS: dict[str, int] = {
    "BOOL": 8, "U8": 8, "I8": 8, "U16": 16, "I16": 16, "U32": 32, "I32": 32, "U64": 64, "I64": 64,
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64,
}  # fmt: skip

_INT_CODES = {
    "U8": "B", "I8": "b", "U16": "H", "I16": "h", "U32": "I", "I32": "i", "U64": "Q", "I64": "q",
}  # fmt: skip


def byte_size(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes of a contiguous tensor; `MalformedError` for an unknown dtype or a broken byte."""
    bits = DTYPE_BITS.get(dtype)
    if bits is None:
        raise MalformedError("sizing a tensor", f"dtype {dtype!r} is not one of safetensors'")
    total = bits * prod(shape)
    if total % 8:
        raise MalformedError("sizing a tensor", f"{dtype} {list(shape)} ends inside a byte")
    return total // 8


@dataclass(frozen=True)
class TensorValue:
    """A contiguous little-endian tensor: dtype by safetensors' names, shape, row-major bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def is_integer(self) -> bool:
        """Whether the dtype is one of the integer ones (BOOL is not)."""
        return self.dtype in _INT_CODES

    def integers(self) -> list[int]:
        """All elements in row-major order as Python integers; `MalformedError` for floats."""
        if self.dtype == "BOOL":
            return [1 if byte else 0 for byte in self.data]
        code = _INT_CODES.get(self.dtype)
        if code is None:
            raise MalformedError("reading a tensor as ids", f"its dtype is {self.dtype}")
        values = array(code)
        values.frombytes(self.data)
        if sys.byteorder == "big":
            values.byteswap()
        return values.tolist()

    @classmethod
    def of_integers(cls, dtype: str, shape: tuple[int, ...], values: list[int]) -> TensorValue:
        """A tensor of `values`; `MalformedError` if one does not fit the dtype."""
        code = _INT_CODES.get(dtype)
        if code is None:
            raise MalformedError("storing ids in a tensor", f"its dtype is {dtype}")
        try:
            stored = array(code, values)
        except OverflowError as error:
            raise MalformedError(
                "storing ids in a tensor", f"a value does not fit {dtype}"
            ) from error
        if sys.byteorder == "big":
            stored.byteswap()
        return cls(dtype, shape, stored.tobytes())
