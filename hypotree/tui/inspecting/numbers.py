"""Bytes of a tensor as numbers: in chunks, so that a large tensor costs no large memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from hypotree.artifact.files import ByteFile
from hypotree.artifact.tensor import DTYPE_BITS
from hypotree.errors import UnreadableError
from hypotree.tui.inspecting.source import TensorRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK: Final = 4 * 1024 * 1024
_PLAIN: Final = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4",
    "U64": "<u8", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
#: Sign, exponent and mantissa bits are the dtype's name; (exponent bits, bias, has infinity).
_EIGHT: Final = {"F8_E4M3": (4, 7, False), "F8_E5M2": (5, 15, True)}


def is_numeric(dtype: str) -> bool:
    """Whether we can read numbers of that dtype."""
    return dtype in _PLAIN or dtype in _EIGHT or dtype == "BF16"


def chunks(
    file: ByteFile, row: TensorRow, stop: Callable[[], bool] = lambda: False
) -> Iterator[NDArray[Any]]:
    """All numbers of a tensor, a chunk at a time; ends early once `stop` says so."""
    at = row.begin
    while at < row.end and not stop():
        length = min(CHUNK, row.end - at)
        yield to_numbers(row.dtype, file.read(at, length))
        at += length


def head(file: ByteFile, row: TensorRow, start: int, count: int) -> list[float | int | bool]:
    """`count` elements from element `start`, row by row."""
    width = DTYPE_BITS[row.dtype] // 8
    begin = min(row.begin + start * width, row.end)
    length = min(count * width, row.end - begin)
    found: list[float | int | bool] = to_numbers(row.dtype, file.read(begin, length)).tolist()
    return found


def to_numbers(dtype: str, data: bytes) -> NDArray[Any]:
    """Bytes as a numpy array; `UnreadableError` for a dtype that numpy and we do not know."""
    import numpy as np

    if dtype in _PLAIN:
        return np.frombuffer(data, _PLAIN[dtype])
    if dtype == "BF16":
        wide = np.frombuffer(data, "<u2").astype(np.uint32) << 16
        return wide.view(np.float32)
    if dtype in _EIGHT:
        found: NDArray[Any] = _table(dtype)[np.frombuffer(data, "u1")]
        return found
    raise UnreadableError(
        f"reading {dtype} as numbers", "its elements are no whole bytes or unknown"
    )


def _table(dtype: str) -> NDArray[np.float32]:
    import numpy as np

    return np.array([_eight(code, *_EIGHT[dtype]) for code in range(256)], np.float32)


def _eight(code: int, exponent_bits: int, bias: int, has_infinity: bool) -> float:  # noqa: FBT001
    """One eight-bit float, by its definition (OCP 8-bit floating point, 1.0)."""
    mantissa_bits = 7 - exponent_bits
    sign = -1.0 if code & 0x80 else 1.0
    exponent = (code & 0x7F) >> mantissa_bits
    mantissa = code & ((1 << mantissa_bits) - 1)
    top = (1 << exponent_bits) - 1
    if exponent == top and has_infinity:
        return sign * float("inf") if mantissa == 0 else float("nan")
    if exponent == top and mantissa == (1 << mantissa_bits) - 1:
        return float("nan")
    if exponent == 0:
        return float(sign * mantissa * 2.0 ** (1 - bias - mantissa_bits))
    return float(sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias))
