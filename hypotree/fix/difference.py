"""Which elements of a tensor change, without making a Python number of each."""

from __future__ import annotations

from hypotree.artifact.tensor import DTYPE_BITS, TensorValue

#: Compared at once: ranges that are equal cost one comparison of memory.
_BLOCK = 4096
#: From here on numpy's 80 ms of import pay.
_LARGE = 4 << 20


def differing_elements(old: TensorValue, new: TensorValue, rows: int) -> tuple[int, list[int]]:
    """How many elements of two tensors of one dtype and shape differ, and the first `rows` of them.

    Elements smaller than a byte count by the byte.
    """
    width = element_width(old)
    if len(old.data) > _LARGE:
        return _by_numpy(old.data, new.data, width, rows)
    count, first = 0, list[int]()
    for start in range(0, len(old.data), _BLOCK):
        if old.data[start : start + _BLOCK] == new.data[start : start + _BLOCK]:
            continue
        for at in range(start, min(start + _BLOCK, len(old.data)), width):
            if old.data[at : at + width] != new.data[at : at + width]:
                count += 1
                if len(first) < rows:
                    first.append(at // width)
    return count, first


def element(value: TensorValue, index: int) -> int:
    """One element: integers as they are, other dtypes as their raw bytes."""
    width = element_width(value)
    data = value.data[index * width : (index + 1) * width]
    return int.from_bytes(data, "little", signed=value.dtype.startswith("I"))


def element_width(value: TensorValue) -> int:
    """Bytes of one element, 1 for those that are smaller."""
    return max(DTYPE_BITS[value.dtype] // 8, 1)


def _by_numpy(old: bytes, new: bytes, width: int, rows: int) -> tuple[int, list[int]]:
    import numpy as np

    count, first = 0, list[int]()
    for start in range(0, len(old), _LARGE):
        a, b = old[start : start + _LARGE], new[start : start + _LARGE]
        if a == b:
            continue
        kind = f"V{width}"
        places = np.flatnonzero(np.frombuffer(a, kind) != np.frombuffer(b, kind))
        count += len(places)
        first += [start // width + int(i) for i in places[: rows - len(first)]]
    return count, first
