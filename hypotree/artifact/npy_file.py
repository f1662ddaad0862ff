"""NumPy's .npy files, format 1.0 to 3.0, without numpy and without evaluating their header.

Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.artifact.strides import row_major, row_major_strides, swapped
from hypotree.artifact.tensor import TensorValue, byte_size
from hypotree.errors import LimitError, MalformedError, UnreadableError

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile

_MAGIC: Final = b"\x93NUMPY"
#: A header names one dtype and one shape; numpy itself pads it to a multiple of 64 bytes.
MAX_HEADER_BYTES: Final = 64 * 1024
MAX_RANK: Final = 64
#: numpy's kind and width to safetensors' dtype.
_DTYPES: Final = {
    "b1": "BOOL", "u1": "U8", "i1": "I8", "u2": "U16", "i2": "I16", "u4": "U32", "i4": "I32",
    "u8": "U64", "i8": "I64", "f2": "F16", "f4": "F32", "f8": "F64", "c8": "C64",
}  # fmt: skip
#: One entry of the header. A literal evaluator would take more than the three that can be there.
_ENTRY: Final = re.compile(
    r"""\s*(['"])(?P<key>descr|fortran_order|shape)\1\s*:\s*"""
    r"""(?:(['"])(?P<descr>[^'"]*)\3|(?P<flag>True|False)|\((?P<shape>[0-9L,\s]*)\))\s*(?:,|$)"""
)
_SAVE_AGAIN: Final = "save the array again with numpy.save, as numbers, with allow_pickle=False"


def read_npy(file: ByteFile, name: str) -> TensorValue:
    """The one array in `file`, row-major and little-endian whatever the file's own order.

    `MalformedError` for what breaks the format, `LimitError` for a header beyond 64 KiB,
    `UnreadableError` for arrays of objects, texts, records and dtypes without a tensor name.
    """
    asked = f"reading the array {plain(name)}"
    text, start = _header(file, asked)
    descr, fortran, shape = _fields(text, asked)
    dtype = _dtype(descr, asked)
    need, there = byte_size(dtype, shape), file.size - start
    if need != there:
        found = f"{dtype} {list(shape)} takes {need} bytes, the file has {there} after its header"
        raise MalformedError(asked, found, "the file is damaged: fetch or save it again")
    width = need // prod(shape) if need else 1
    data = file.read(start, need)
    if descr[0] == ">":
        data = swapped(data, 4 if dtype == "C64" else width)
    if fortran and need:
        data = row_major(data, width, shape, row_major_strides(shape[::-1])[::-1])
    return TensorValue(dtype, shape, data)


def _header(file: ByteFile, asked: str) -> tuple[str, int]:
    """The header's text and the offset of the first element."""
    start = file.read(0, min(12, file.size))
    if start[:6] != _MAGIC or len(start) < 10:
        found = f"it starts with {plain(start.decode('latin-1'))}, not with numpy's mark"
        raise MalformedError(asked, found, "give a file that numpy.save wrote")
    version = start[6]
    if version not in (1, 2, 3) or start[7] != 0:
        raise UnreadableError(asked, f"its format is {version}.{start[7]}", "1.0 to 3.0 are read")
    at = 10 if version == 1 else 12
    length = int.from_bytes(start[8:at], "little")
    if length > MAX_HEADER_BYTES:
        raise LimitError(asked, f"its header has {length} bytes, {MAX_HEADER_BYTES} are read")
    if at + length > file.size:
        raise MalformedError(asked, "the file ends inside its header", "fetch or save it again")
    raw = file.read(at, length)
    try:
        return raw.decode("utf-8" if version == 3 else "latin-1"), at + length
    except UnicodeDecodeError as error:
        raise MalformedError(asked, "its header is not UTF-8", _SAVE_AGAIN) from error


def _fields(text: str, asked: str) -> tuple[str, bool, tuple[int, ...]]:
    """descr, fortran_order and shape, each of which must be there once and nothing else."""
    body = text.strip()
    if "[" in body:
        raise UnreadableError(asked, "it holds records, no plain numbers", _SAVE_AGAIN)
    found: dict[str, re.Match[str]] = {}
    at, end = 1, len(body) - 1
    while body[at:end].strip():
        entry = _ENTRY.match(body, at, end)
        if entry is None or entry["key"] in found:
            break
        found[entry["key"]] = entry
        at = entry.end()
    if body[:1] != "{" or body[end:] != "}" or body[at:end].strip() or len(found) != 3:
        raise MalformedError(asked, f"its header reads {plain(body)}", _SAVE_AGAIN)
    descr, flag = found["descr"]["descr"], found["fortran_order"]["flag"]
    shape = found["shape"]["shape"]
    if descr is None or flag is None or shape is None:
        raise MalformedError(asked, f"its header reads {plain(body)}", _SAVE_AGAIN)
    return descr, flag == "True", _shape(shape, asked)


def _shape(text: str, asked: str) -> tuple[int, ...]:
    """`3,4` or `3,` or nothing as a shape; Python 2 wrote `3L`."""
    parts = [part.strip().removesuffix("L") for part in text.split(",")]
    if parts[-1] == "":
        parts.pop()
    sound = all(part.isdecimal() and len(part) <= 18 for part in parts) and len(parts) <= MAX_RANK
    # `(3)` is a number to Python, no tuple; numpy refuses it, too.
    if not sound or (len(parts) == 1 and "," not in text):
        raise MalformedError(asked, f"its shape reads ({plain(text)})", _SAVE_AGAIN)
    return tuple(map(int, parts))


def _dtype(descr: str, asked: str) -> str:
    """The tensor name of a numpy dtype such as `<i8`."""
    if "O" in descr:
        raise UnreadableError(asked, "it holds Python objects, that is a pickle", _SAVE_AGAIN)
    dtype = _DTYPES.get(descr[1:])
    if dtype is None or descr[0] not in "<>|" or (descr[0] == "|" and descr[-1] != "1"):
        raise UnreadableError(asked, f"its dtype is {plain(descr)}", _SAVE_AGAIN)
    return dtype
