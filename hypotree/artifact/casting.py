"""Whether one tensor, rounded to another's dtype, is that other one; numpy, imported when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypotree.artifact.tensor import DTYPE_BITS

if TYPE_CHECKING:
    from hypotree.artifact.tensor import TensorValue

_FLOATS = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
_INTEGERS = {
    "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4",
    "U64": "<u8", "I64": "<i8",
}  # fmt: skip


def casts_to(wide: TensorValue, narrow: TensorValue) -> bool:
    """Whether `wide` has the bits of `narrow` once it is rounded to nearest even."""
    import numpy as np

    if wide.dtype in _INTEGERS and narrow.dtype in _INTEGERS:
        return wide.integers() == narrow.integers()
    if DTYPE_BITS[wide.dtype] < DTYPE_BITS[narrow.dtype]:
        return False
    values = _values(wide)
    if values is None:
        return False
    with np.errstate(all="ignore"):
        if narrow.dtype == "BF16":
            rounded = _to_bf16(values).tobytes()
        elif narrow.dtype in _FLOATS:
            rounded = values.astype(_FLOATS[narrow.dtype]).tobytes()
        else:
            return False
    return bool(rounded == narrow.data)


def _values(value: TensorValue) -> Any:
    import numpy as np

    if value.dtype == "BF16":
        bits = np.frombuffer(value.data, "<u2").astype("<u4") << 16
        return bits.view("<f4")
    form = _FLOATS.get(value.dtype)
    return None if form is None else np.frombuffer(value.data, form)


def _to_bf16(values: Any) -> Any:
    """The upper halves of F32, rounded to nearest even; NaN stays NaN."""
    import numpy as np

    wide = values.astype("<f4")
    bits = wide.view("<u4")
    rounded = (bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))) >> 16
    return np.where(np.isnan(wide), (bits >> 16) | 0x40, rounded).astype("<u2")
