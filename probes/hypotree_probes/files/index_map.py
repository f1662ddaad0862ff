"""The weight_map of an index, 200,000 entries in a tenth of a second.

The quick reader can only say yes: what it cannot vouch for (escapes, a key that stands there twice,
anything that is no text) goes to the strict reader, which decides and words the fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import msgspec

from hypotree.artifact.documents import INDEX, as_mapping, read_json
from hypotree.artifact.plain import plain
from hypotree.errors import MalformedError

if TYPE_CHECKING:
    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree.artifact.files import ByteFile

_QUOTES_AN_ENTRY: Final = 4
_PARTS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_WEIGHTS: Final = msgspec.json.Decoder(dict[str, str])


def read_weight_map(draft: Checkpoint, name: str) -> dict[str, str]:
    """Tensor to shard; `MalformedError` for what is no index, `LimitError` beyond all reason."""
    file = draft.file(name)
    quick = None if file is None else _quick(file)
    if quick is not None:
        return quick
    value = None if file is None else read_json(file, name, INDEX)
    weights = as_mapping(as_mapping(value, name).get("weight_map"), f"weight_map of {name}")
    if not set(map(type, weights.values())) <= {str}:
        asked = f"reading {plain(name)}"
        raise MalformedError(asked, "a tensor of its weight_map has no file name")
    return cast("dict[str, str]", weights)


def _quick(file: ByteFile) -> dict[str, str] | None:
    if file.size > INDEX.size:
        return None
    data = file.read(0, file.size)
    if b"\\" in data:
        return None
    try:
        parts = _PARTS.decode(data)
        weights = _WEIGHTS.decode(parts.pop("weight_map"))
    except (msgspec.MsgspecError, KeyError, RecursionError, UnicodeDecodeError):
        return None
    # Without escapes an entry has four quotes, a part's name two: what is missing was there twice.
    others = sum(2 + bytes(part).count(b'"') for part in parts.values())
    is_unique = data.count(b'"') == others + 2 + _QUOTES_AN_ENTRY * len(weights)
    return weights if is_unique and len(weights) <= INDEX.nodes // 2 else None
