"""Floating-point formats on their raw bits: what is not finite shows without any conversion.

Sources: IEEE 754 for F16, F32, F64; bfloat16 is the upper half of an F32; OCP OFP8 (E4M3 "fn", E5M2)
and OCP MX (E8M0); the FNUZ variants are LLVM's `Float8E4M3FNUZ` and `Float8E5M2FNUZ`, whose only
NaN is the negative zero. F4 and F6 of OCP MX have neither NaN nor infinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class WideFormat:
    """16 bits and more: a magnitude (sign cut off) above `infinity` is NaN, one equal to it infinite."""

    bits: Any
    magnitude: int
    infinity: int
    real: Any
    """The numpy dtype of its values; BF16 has none and is widened."""


WIDE: Final = {
    "BF16": WideFormat(np.dtype("<u2"), 0x7FFF, 0x7F80, None),
    "F16": WideFormat(np.dtype("<u2"), 0x7FFF, 0x7C00, np.dtype("<f2")),
    "F32": WideFormat(np.dtype("<u4"), 0x7FFFFFFF, 0x7F800000, np.dtype("<f4")),
    "C64": WideFormat(np.dtype("<u4"), 0x7FFFFFFF, 0x7F800000, np.dtype("<f4")),
    "F64": WideFormat(np.dtype("<u8"), 0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000, np.dtype("<f8")),
}
#: Exponent bits, mantissa bits, bias and kind of the 8-bit formats.
_NARROW: Final = {
    "F8_E4M3": (4, 3, 7, "fn"),
    "F8_E5M2": (5, 2, 15, "ieee"),
    "F8_E4M3FNUZ": (4, 3, 8, "fnuz"),
    "F8_E5M2FNUZ": (5, 2, 16, "fnuz"),
    "F8_E8M0": (8, 0, 127, "scale"),
}
#: What a tensor's values are counted for; all else is digested only.
COUNTED: Final = frozenset({*WIDE, *_NARROW})


def wide_values(raw: NDArray[Any], form: WideFormat) -> NDArray[Any]:
    """Raw bits as numbers; BF16 becomes F32, whose upper half it is."""
    if form.real is not None:
        return raw.view(form.real)
    wide = raw.astype(np.uint32)
    np.left_shift(wide, 16, out=wide)
    return wide.view(np.float32)


@lru_cache(maxsize=8)
def narrow_values(dtype: str) -> NDArray[np.float64]:
    """The value of each of the 256 codes of an 8-bit format."""
    exponents, mantissas, bias, kind = _NARROW[dtype]
    return np.array([_decode(c, exponents, mantissas, bias, kind) for c in range(256)])


def _decode(code: int, exponents: int, mantissas: int, bias: int, kind: str) -> float:
    if kind == "scale":
        return float("nan") if code == 0xFF else 2.0 ** (code - bias)
    sign, magnitude = (-1.0 if code & 0x80 else 1.0), code & 0x7F
    exponent, mantissa = magnitude >> mantissas, magnitude & ((1 << mantissas) - 1)
    if kind == "fnuz" and code == 0x80:
        return float("nan")
    if kind == "fn" and magnitude == 0x7F:
        return float("nan")
    if kind == "ieee" and exponent == (1 << exponents) - 1:
        return sign * float("inf") if mantissa == 0 else float("nan")
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissas)
    return sign * (1 + mantissa / (1 << mantissas)) * 2.0 ** (exponent - bias)
