"""Digests: a type of their own, never a bare string."""

from __future__ import annotations

import hashlib
from typing import Final, Protocol

_HEX: Final = frozenset("0123456789abcdef")


class Digest:
    """A sha256; equal by value, prints as `sha256:<64 hex digits>`."""

    __slots__ = ("hex",)
    hex: str

    def __init__(self, hex_digits: str) -> None:
        if len(hex_digits) != 64 or not _HEX.issuperset(hex_digits):
            message = f"not the 64 lower-case hex digits of a sha256: {hex_digits[:80]!r}"
            raise ValueError(message)
        object.__setattr__(self, "hex", hex_digits)

    def __setattr__(self, name: str, value: object) -> None:
        message = "a Digest cannot be changed"
        raise AttributeError(message)

    def __reduce__(self) -> tuple[type[Digest], tuple[str]]:
        return Digest, (self.hex,)

    @classmethod
    def of(cls, data: bytes | bytearray | memoryview) -> Digest:
        """The digest of `data`."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def of_parts(cls, *parts: bytes) -> Digest:
        """The digest of several parts, each preceded by its length so that no two lists collide."""
        state = hashlib.sha256()
        for part in parts:
            state.update(len(part).to_bytes(8, "little"))
            state.update(part)
        return cls(state.hexdigest())

    @property
    def short(self) -> str:
        """The first 12 digits, for people; never compared."""
        return self.hex[:12]

    def __str__(self) -> str:
        return f"sha256:{self.hex}"

    def __repr__(self) -> str:
        return f"Digest({self.hex!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digest) and self.hex == other.hex

    def __hash__(self) -> int:
        return hash(self.hex)


#: What a thing that is not there digests to: absence is a fact, too, and can become stale.
ABSENT: Final = Digest.of_parts(b"hypotree", b"absent")

CHUNK: Final = 4 * 1024 * 1024


class _Sized(Protocol):
    @property
    def size(self) -> int: ...
    def read(self, offset: int, length: int) -> bytes: ...


def digest_range(file: _Sized, offset: int, length: int) -> Digest:
    """The digest of `length` bytes from `offset`, read in chunks of 4 MiB."""
    state = hashlib.sha256()
    end = offset + length
    while offset < end:
        data = file.read(offset, min(CHUNK, end - offset))
        state.update(data)
        offset += len(data)
    return Digest(state.hexdigest())


def digest_file(file: _Sized) -> Digest:
    """The digest of a whole file (equal to what sha256sum prints)."""
    return digest_range(file, 0, file.size)
