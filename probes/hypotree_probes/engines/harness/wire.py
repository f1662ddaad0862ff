"""Frames between the harness process and its parent: a JSON head, and bytes behind it."""

from __future__ import annotations

import json
from typing import Any, BinaryIO, Final

#: What a head may be at most: a result with all its tables is a hundredth of it.
MAX_HEAD: Final = 16 * 1024 * 1024


class WireError(Exception):
    """The other side sent something that is no frame."""


def send(stream: BinaryIO, head: dict[str, Any], body: bytes | memoryview = b"") -> None:
    """Write one frame."""
    data = json.dumps(head).encode()
    stream.write(len(data).to_bytes(8, "little") + len(body).to_bytes(8, "little") + data)
    stream.write(body)
    stream.flush()


def receive(stream: BinaryIO, *, max_body: int) -> tuple[dict[str, Any], bytearray]:
    """Read one frame; `EOFError` if the other side is gone."""
    prefix = _exactly(stream, 16)
    length = int.from_bytes(prefix[:8], "little")
    size = int.from_bytes(prefix[8:], "little")
    if length > MAX_HEAD or size > max_body:
        raise WireError(f"a frame of {length} + {size} bytes")
    try:
        head = json.loads(bytes(_exactly(stream, length)))
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {error}") from error
    if not isinstance(head, dict):
        raise WireError("no JSON object")
    return head, _exactly(stream, size)


def _exactly(stream: BinaryIO, length: int) -> bytearray:
    data = bytearray(length)
    view, at = memoryview(data), 0
    while at < length:
        count = stream.readinto(view[at:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        at += count
    return data
