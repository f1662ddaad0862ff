"""torch.save's form before the zip: five pickles in a row, then the storages one after another.

Layout: torch 2.13, `torch/serialization.py`, `_legacy_save`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.artifact.tensor import DTYPE_BITS
from hypotree.artifact.torch_unpickle import Unpickler
from hypotree.errors import MalformedError, UnreadableError

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile
    from hypotree.artifact.torch_values import StorageRef

#: `MAGIC_NUMBER` 0x1950a86a20f9469cfc6c as pickle protocol 2 and later write it.
_MAGIC: Final = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
_PROTOCOL: Final = 1001
_FETCH: Final = "the file is damaged or incomplete: fetch or save it again"


def is_legacy(start: bytes) -> bool:
    """Whether a file that begins with `start` (16 bytes or more) is of this form."""
    return start[:1] == b"\x80" and _MAGIC in start[2:24]


def open_legacy(file: ByteFile, head: bytes, asked: str) -> tuple[object, LegacyStorages]:
    """The tree of references and its storages; `head` is the file up to the limit for pickles."""
    at = head.index(_MAGIC) + len(_MAGIC)
    values: list[object] = []
    storages: dict[str, StorageRef] = {}
    for _ in ("protocol", "machine", "value", "keys"):
        reader = Unpickler(head, asked, at)
        values.append(reader.load())
        at = reader.at
        storages |= reader.storages
    protocol, machine, tree, keys = values
    if protocol != _PROTOCOL:
        raise UnreadableError(asked, "its legacy protocol is unknown", "save it again")
    if isinstance(machine, dict) and machine.get("little_endian") is False:
        found = "it was saved on a big-endian machine"
        raise UnreadableError(asked, found, "load and save it there as safetensors")
    return tree, LegacyStorages(file, asked, at, [storages.get(str(key)) for key in _list(keys)])


def _list(keys: object) -> list[object]:
    return keys if isinstance(keys, list) else [keys]


class LegacyStorages:
    """The storages behind the pickles: each its element count in eight bytes, then its bytes."""

    def __init__(self, file: ByteFile, asked: str, at: int, order: list[StorageRef | None]) -> None:
        self._file, self._asked = file, asked
        self._starts: dict[str, int] = {}
        for storage in order:
            if storage is None:
                raise MalformedError(asked, "it lists a storage that no tensor has", _FETCH)
            self._starts[storage.key] = at + 8
            at = self._end_of(storage, at)

    def _end_of(self, storage: StorageRef, at: int) -> int:
        """Where the storage that begins at `at` ends; `MalformedError` if not in this file."""
        there = at + 8 + storage.size <= self._file.size
        count = int.from_bytes(self._file.read(at, 8), "little") if there else -1
        width = DTYPE_BITS[storage.dtype] // 8 if storage.dtype else 1
        if count * width != storage.size:
            found = f"storage {plain(storage.key)} should have {storage.size} bytes and has not"
            raise MalformedError(self._asked, found, _FETCH)
        return at + 8 + storage.size

    def read(self, storage: StorageRef, begin: int, length: int) -> bytes:
        """`length` bytes from `begin` of `storage`."""
        start = self._starts.get(storage.key)
        if start is None:
            found = f"storage {plain(storage.key)} is not in the file"
            raise MalformedError(self._asked, found, _FETCH)
        return self._file.read(start + begin, length)
