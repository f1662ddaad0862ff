"""Values to JSON and back: one canonical form, so that a digest of a value means something."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from hypotree.digest import Digest
from hypotree.errors import MalformedError

T = TypeVar("T")


def _encode_extra(value: object) -> object:
    if isinstance(value, Digest):
        return value.hex
    message = f"{type(value).__name__} is not a journal value"
    raise NotImplementedError(message)


def _decode_extra(kind: type, value: object) -> object:
    if kind is Digest and isinstance(value, str):
        return Digest(value)
    message = f"{kind.__name__} is not a journal value"
    raise ValueError(message)


_CANONICAL = msgspec.json.Encoder(enc_hook=_encode_extra, order="sorted")
_READABLE = msgspec.json.Encoder(enc_hook=_encode_extra)


def canonical_json(value: object) -> bytes:
    """`value` as JSON with sorted keys and no spaces: the form that is digested and journaled."""
    return _CANONICAL.encode(value)


def ordered_json(value: object) -> bytes:
    """`value` as JSON without spaces, fields and keys in the order in which they were declared."""
    return _READABLE.encode(value)


def readable_json(value: object) -> str:
    """`value` as indented JSON in declaration order, for stdout."""
    return msgspec.json.format(_READABLE.encode(value), indent=2).decode()


def digest_of(value: object) -> Digest:
    """The digest of `value`'s canonical JSON."""
    return Digest.of(canonical_json(value))


@lru_cache(maxsize=64)
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """One decoder a kind: a journal is read line by line."""
    return msgspec.json.Decoder(kind, dec_hook=_decode_extra)


def decode(data: bytes | str, kind: type[T], what: str) -> T:
    """`data` as a `kind`; `MalformedError` naming `what` if it is anything else."""
    try:
        key: Any = kind
        decoder: msgspec.json.Decoder[T] = _decoder(key)
        return decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise MalformedError(f"reading {what}", str(error)) from error


def convert(value: object, kind: Any, what: str) -> Any:
    """Plain data (from YAML or JSON) as a `kind`; `MalformedError` naming `what`."""
    try:
        return msgspec.convert(value, kind, dec_hook=_decode_extra)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise MalformedError(f"reading {what}", str(error)) from error
