"""Strided elements put in row-major order, and bytes of the other endianness turned round."""

from __future__ import annotations

from array import array
from itertools import product
from math import prod
from typing import Final, Literal

#: Format letters for elements of 1, 2, 4 and 8 bytes: values do not matter here, only widths.
_FORMATS: Final[dict[int, Literal["B", "H", "I", "Q"]]] = {1: "B", 2: "H", 4: "I", 8: "Q"}


def row_major_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a contiguous row-major tensor of `shape`."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def span(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Elements from the first to the last that a tensor touches, both counted; 0 if it is empty."""
    if 0 in shape:
        return 0
    return 1 + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))


def row_major(data: bytes, width: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
    """The tensor's bytes in row-major order, `width` (1, 2, 4 or 8) bytes an element.

    `data` starts at the tensor's first element and ends with its last; `strides` count elements
    and are not negative. Whole lines along the longest axis are copied, so that Python runs once
    a line, not once an element.
    """
    axes = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    lengths, steps = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    targets = row_major_strides(lengths)
    if 0 in shape or steps == targets:
        return data[: width * prod(shape)]
    source = memoryview(data).cast(_FORMATS[width])
    result = bytearray(width * prod(shape))
    target = memoryview(result).cast(_FORMATS[width])
    long = lengths.index(max(lengths))
    count, step, stride = lengths[long], steps[long], targets[long]
    others = [axis for axis in range(len(lengths)) if axis != long]
    for index in product(*(range(lengths[axis]) for axis in others)):
        at = sum(i * steps[axis] for i, axis in zip(index, others, strict=True))
        to = sum(i * targets[axis] for i, axis in zip(index, others, strict=True))
        if step:
            line = source[at : at + (count - 1) * step + 1 : step]
        else:
            line = memoryview(source[at : at + 1].tobytes() * count).cast(_FORMATS[width])
        target[to : to + (count - 1) * stride + 1 : stride] = line
    return bytes(result)


def lines(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many lines `row_major` would copy one by one; 0 if the bytes are in order as they are."""
    if 0 in shape or strides == row_major_strides(shape):
        return 0
    return prod(shape) // max(shape)


def swapped(data: bytes, width: int) -> bytes:
    """`data` with the bytes of each element of `width` bytes in reverse order."""
    if width == 1:
        return data
    values = array(_FORMATS[width], data)
    values.byteswap()
    return values.tobytes()
