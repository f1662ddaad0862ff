"""JSON and YAML documents: bounded, without duplicate keys, plain data only."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hypotree.artifact.plain import plain
from hypotree.errors import LimitError, MalformedError

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile


@dataclass(frozen=True)
class Limits:
    """How large a document may be: bytes, levels of nesting, and values, each visit counted."""

    size: int = 16 * 1024 * 1024
    depth: int = 64
    nodes: int = 200_000


#: A config, a run file, a session file.
DOCUMENT: Final = Limits()
#: The index of a sharded checkpoint: one entry a tensor, and 208,000 tensors exist.
INDEX: Final = Limits(size=64 * 1024 * 1024, depth=8, nodes=1_000_000)

_SHRINK: Final = "give the file that holds only the configuration"


def read_json(file: ByteFile, name: str, limits: Limits = DOCUMENT) -> object:
    """The JSON value in `file`, made of dict, list, str, int, float, bool and None.

    NaN and Infinity are taken, since Python writes them and the engines' parser reads them.
    `MalformedError` for bytes that are no UTF-8 JSON or name a key twice, `LimitError` beyond
    `limits`.
    """
    asked = f"reading {plain(name)} as JSON"
    text = read_text(file, name, limits.size)
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except RecursionError as error:
        raise LimitError(asked, f"it is nested more than {limits.depth} deep", _SHRINK) from error
    except ValueError as error:
        raise MalformedError(asked, plain(str(error)), "correct the file") from error
    check_bounds(value, limits, asked)
    return value


def read_yaml(file: ByteFile, name: str, limits: Limits = DOCUMENT) -> object:
    """The YAML document in `file`, in JSON's types only; dates stay text, tags make no objects.

    Errors as for `read_json`; aliases count again each time they are used.
    """
    from hypotree.artifact.yaml_document import load  # yaml costs 20 ms that few commands need

    asked = f"reading {plain(name)} as YAML"
    value = load(read_text(file, name, limits.size), limits, asked)
    check_bounds(value, limits, asked)
    return value


def as_mapping(value: object, name: str) -> dict[str, object]:
    """`value` as an object whose keys are text; `MalformedError` for anything else."""
    asked = f"reading {plain(name)} as an object with named fields"
    if not isinstance(value, dict):
        found = f"it is a {type(value).__name__}"
        raise MalformedError(asked, found, "give a file with named fields")
    for key in value:
        if not isinstance(key, str):
            found = f"its key {plain(repr(key))} is not text"
            raise MalformedError(asked, found, "put the key in quotes")
    return value


def read_text(file: ByteFile, name: str, size: int = DOCUMENT.size) -> str:
    """The whole file as UTF-8 text; `LimitError` beyond `size` bytes, `MalformedError` if not."""
    asked = f"reading {plain(name)} as text"
    if file.size > size:
        raise LimitError(asked, f"it has {file.size} bytes, {size} are read", _SHRINK)
    try:
        return file.read(0, file.size).decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is not UTF-8"
        raise MalformedError(asked, found, "save it as UTF-8") from error


def check_bounds(value: object, limits: Limits, asked: str) -> None:
    """`LimitError` if `value` is deeper or larger than `limits`, each visit of a part counted.

    Shared and self-referential parts, which YAML's aliases make, thus cost what they stand for.
    """
    level: list[object] = [value]
    nodes = 0
    for _ in range(limits.depth + 1):
        if not level:
            return
        nodes += len(level)
        parts = [part for part in level if isinstance(part, (dict, list))]
        if nodes + sum(map(len, parts)) > limits.nodes:
            raise LimitError(asked, f"it holds more than {limits.nodes} values", _SHRINK)
        level = [item for part in parts for item in _items(part)]
    raise LimitError(asked, f"it is nested more than {limits.depth} deep", _SHRINK)


def _items(part: dict[Any, object] | list[object]) -> list[object]:
    return part if isinstance(part, list) else list(part.values())


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        message = f"the key {plain(twice)} stands there twice"
        raise ValueError(message)
    return found
