"""Where each tensor of a safetensors file lies, checked against the format's own definition.

The rules are those of the library's reader (safetensors 0.8.0, `Metadata::validate` in tensor.rs):
sorted by their offsets the tensors follow each other without overlap and without gap from the
first byte after the header to the end of the file, and each is as long as dtype and shape say.
"""

from __future__ import annotations

from typing import Any, Final

from hypotree.artifact.plain import plain
from hypotree.artifact.safetensors_values import HeaderFault, Problem, TensorLayout
from hypotree.artifact.tensor import DTYPE_BITS

#: Enough to see what is wrong; a hostile header may hold a million faults.
MAX_FAULTS: Final = 100
_MAX_U64: Final = 2**64 - 1
_DAMAGED: Final = "the file is damaged or was written wrongly: save or fetch it again"
_FETCH: Final = "the copy is incomplete: fetch or save it again"


def lay_out(
    table: dict[str, Any], data_start: int, file_size: int
) -> tuple[dict[str, TensorLayout], list[HeaderFault]]:
    """The layouts of all entries of `table` in its order, and every fault found (at most 100)."""
    tensors: dict[str, TensorLayout] = {}
    faults: list[HeaderFault] = []
    reached = data_start
    follow_each_other = True
    for name, entry in table.items():
        layout = _layout_of(entry, data_start)
        if isinstance(layout, str):
            if len(faults) < MAX_FAULTS:
                faults.append(_bad_tensor(name, layout))
            continue
        tensors[name] = layout
        follow_each_other = follow_each_other and layout.begin == reached
        reached = layout.end
    # Bytes that a broken entry stands for would show as gaps: its own fault is enough.
    if not follow_each_other and not faults:
        reached = _cover(tensors, data_start, faults)
    if not faults:
        faults += _compare_ends(tensors, reached, file_size)
    return tensors, faults


def _layout_of(entry: Any, data_start: int) -> TensorLayout | str:
    """The layout that one entry describes, or in words why it describes none."""
    try:
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        bits = DTYPE_BITS[dtype]
        begin, end = offsets
    except (KeyError, TypeError, ValueError):
        return _what_is_missing(entry)
    if type(begin) is not int or type(end) is not int or type(offsets) is not list or begin < 0:
        return f"data_offsets is {_short(offsets)}, not two whole numbers"
    if type(shape) is not list:
        return f"shape is {_short(shape)}, not a list"
    bits_in_all = bits
    for length in shape:
        # `type() is` rather than isinstance: true and false are ints to Python, not to the format.
        if type(length) is not int or not 0 <= length <= _MAX_U64:
            return f"shape is {_short(shape)}, not whole numbers"
        bits_in_all *= length
        if bits_in_all > bits * _MAX_U64:
            return f"shape {_short(shape)} has more elements than 64 bits can count"
    if bits_in_all != (end - begin) * 8:
        return _wrong_length(dtype, shape, begin, end, bits_in_all)
    return TensorLayout(dtype, tuple(shape), data_start + begin, data_start + end)


def _what_is_missing(entry: Any) -> str:
    """Why an entry could not be taken apart at all."""
    if type(entry) is not dict:
        return f"its entry is {_short(entry)}, not an object"
    for key in ("dtype", "shape", "data_offsets"):
        if key not in entry:
            return f"its entry has no {key}"
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in DTYPE_BITS:
        return f"dtype {_short(entry['dtype'])} is not one of the format's"
    return f"data_offsets is {_short(entry['data_offsets'])}, not two whole numbers"


def _wrong_length(dtype: str, shape: list[int], begin: int, end: int, bits: int) -> str:
    """Why the byte range does not fit dtype and shape."""
    if end < begin:
        return f"its bytes run backwards, from {begin} to {end}"
    need = f"{bits // 8} bytes" if bits % 8 == 0 else f"{bits} bits, which end inside a byte"
    return f"{dtype} {_short(shape)} takes {need}, data_offsets span {end - begin}"


def _bad_tensor(name: str, found: str) -> HeaderFault:
    return HeaderFault("bad-tensor", f"tensor {plain(name)}: {found}", _DAMAGED, name)


def _cover(tensors: dict[str, TensorLayout], data_start: int, faults: list[HeaderFault]) -> int:
    """The end of the last tensor in offset order; overlaps and gaps on the way go to `faults`."""
    reached, before = data_start, "the header"
    for name, layout in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if layout.begin != reached and len(faults) < MAX_FAULTS:
            what: Problem = "overlap" if layout.begin < reached else "gap"
            found = (
                f"tensor {plain(name)} begins at byte {layout.begin}, {before} ends at {reached}"
            )
            faults.append(HeaderFault(what, found, _DAMAGED, name))
        reached, before = max(reached, layout.end), f"tensor {plain(name)}"
    return reached


def _compare_ends(
    tensors: dict[str, TensorLayout], reached: int, file_size: int
) -> list[HeaderFault]:
    """Whether the file ends where its last tensor does."""
    if reached == file_size:
        return []
    if reached < file_size:
        found = f"the last tensor ends at byte {reached}, the file has {file_size}"
        return [HeaderFault("trailing-bytes", found, _DAMAGED)]
    cut = [name for name, layout in tensors.items() if layout.end > file_size]
    found = f"the header promises {reached} bytes, the file has {file_size}; "
    found += f"{len(cut)} of {len(tensors)} tensors are cut, the first is {plain(cut[0])}"
    return [HeaderFault("truncated", found, _FETCH, cut[0])]


def _short(value: object) -> str:
    return plain(repr(value) if not isinstance(value, str) else f"'{value}'", 80)
