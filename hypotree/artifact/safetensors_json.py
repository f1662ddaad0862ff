"""The bytes and the JSON of a safetensors header, as strictly taken as by the library."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NoReturn

from hypotree.artifact.plain import plain
from hypotree.artifact.safetensors_values import HeaderFault, Problem

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile

#: The library's own limit (`MAX_HEADER_SIZE` in tensor.rs).
MAX_HEADER_BYTES: Final = 100_000_000
#: Brackets cost sixty bytes of memory each: a header of nothing else would take gigabytes.
MAX_BRACKETS: Final = 2_000_000
_REDO: Final = "the file is damaged or was written wrongly: save or fetch it again"
_FETCH: Final = "the copy is incomplete: fetch or save it again"
_OTHER: Final = "it is no safetensors file: check what was downloaded or saved under that name"


class FaultFoundError(Exception):
    """The way out of the parser: nothing behind this fault can be read."""

    def __init__(self, fault: HeaderFault) -> None:
        self.fault = fault
        super().__init__(fault.found)


def _stop(problem: Problem, found: str, next_step: str = _REDO) -> NoReturn:
    raise FaultFoundError(HeaderFault(problem, found, next_step))


def frame(file: ByteFile) -> bytes:
    """The header's bytes, by the length in front of them."""
    if file.size < 8:
        _stop("truncated", f"the file has {file.size} bytes, fewer than a length", _FETCH)
    start = file.read(0, min(file.size, 9))
    length = int.from_bytes(start[:8], "little")
    if start[8:] not in (b"{", b""):
        text = plain(start.decode("latin-1"))
        _stop("bad-header", f"it starts with {text}, no header follows", _OTHER)
    if length > MAX_HEADER_BYTES:
        found = f"the header says it is {length} bytes long, {MAX_HEADER_BYTES} are allowed"
        _stop("over-limit", found)
    if 8 + length > file.size:
        found = f"the header ends at byte {8 + length}, the file has {file.size}"
        _stop("truncated", found, _FETCH)
    raw = file.read(8, length)
    if len(raw) > MAX_BRACKETS and raw.count(b"{") + raw.count(b"[") > MAX_BRACKETS:
        _stop("over-limit", f"the header holds more than {MAX_BRACKETS} brackets")
    return raw


def parse(raw: bytes) -> dict[str, Any]:
    """The header's JSON object, as strictly as the library's parser takes it."""
    try:
        table = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_int=_no_minus_zero,
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError) as error:
        _stop("bad-header", f"its header is not JSON: {plain(str(error))}")
    if not isinstance(table, dict):
        _stop("bad-header", "its header is no JSON object")
    return table


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        _stop("duplicate-key", f"the key {plain(twice)} stands there twice")
    for key in found:
        key.encode()  # a lone surrogate is no text: UnicodeEncodeError is a ValueError
    return found


def _no_minus_zero(digits: str) -> int:
    if digits == "-0":
        _stop("bad-header", "its header has the number -0, which is no whole number")
    return int(digits)


def _no_constant(word: str) -> NoReturn:
    _stop("bad-header", f"its header has {word}, which is not JSON")


def take_metadata(table: dict[str, Any]) -> dict[str, str]:
    """The free texts, taken out of `table`."""
    metadata = table.pop("__metadata__", None)
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        _stop("bad-header", "its __metadata__ is not an object of texts")
    if any(not _is_text(value) for value in metadata.values()):
        _stop("bad-header", "its __metadata__ holds half of a surrogate pair")
    return metadata


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
