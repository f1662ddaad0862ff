"""Store a tensor's values in another dtype."""

from __future__ import annotations

from typing import Any

from hypotree.artifact.tensor import TensorValue
from hypotree.errors import MisuseError

#: Elements compared at once.
_BLOCK = 1 << 18


def cast(value: TensorValue, dtype: str) -> TensorValue:
    """The same values as `dtype` (safetensors' name), rounded as numpy rounds.

    `MisuseError` if a dtype has no arithmetic here, or if an integer does not fit.
    """
    kinds = _kinds()
    if value.dtype not in kinds or dtype not in kinds:
        wrong = value.dtype if value.dtype not in kinds else dtype
        raise MisuseError(
            f"casting to {dtype}", f"{wrong} cannot be cast", f"{', '.join(kinds)} can"
        )
    import numpy as np

    old = np.frombuffer(value.data, kinds[value.dtype])
    with np.errstate(over="ignore", invalid="ignore"):
        new = old.astype(kinds[dtype])
        if dtype.startswith(("I", "U")) and not np.array_equal(new.astype(old.dtype), old):
            raise MisuseError(f"casting to {dtype}", "some values do not fit")
    return TensorValue(dtype, value.shape, new.tobytes())


def largest_change(old: TensorValue, new: TensorValue) -> float | None:
    """The largest absolute difference of an element of two tensors of one shape; None for no numbers."""
    kinds = _kinds()
    if old.shape != new.shape or old.dtype not in kinds or new.dtype not in kinds or not old.data:
        return None
    import numpy as np

    a, b = np.frombuffer(old.data, kinds[old.dtype]), np.frombuffer(new.data, kinds[new.dtype])
    largest = 0.0
    for at in range(0, len(a), _BLOCK):
        one, other = a[at : at + _BLOCK], b[at : at + _BLOCK]
        with np.errstate(invalid="ignore", over="ignore"):
            change = np.abs(one.astype(np.float64) - other.astype(np.float64))
        largest = max(largest, float(np.nanmax(change, initial=0.0)))
    return largest if np.isfinite(largest) else None


def _kinds() -> dict[str, Any]:
    import ml_dtypes
    import numpy as np

    return {
        "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
        "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
        "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8,
        "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8,
    }  # fmt: skip
