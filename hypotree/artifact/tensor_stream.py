"""Tensors piece by piece: whatever their size, a few hundred KiB are in memory at a time.

The digest of a streamed tensor is that of the whole one (`tensor_digest`): name, dtype, shape and
bytes, each preceded by its length as `Digest.of_parts` does it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from hypotree.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hypotree.artifact.files import ByteFile
    from hypotree.artifact.safetensors_values import TensorLayout

#: A multiple of every element's size; small enough for the caches, large enough for the kernel.
PIECE: Final = 512 * 1024


class TensorDigester:
    """Digests one tensor while its bytes pass by."""

    def __init__(self, name: str, layout: TensorLayout) -> None:
        self._state = hashlib.sha256()
        shape = ",".join(map(str, layout.shape))
        for part in (name.encode(), layout.dtype.encode(), shape.encode()):
            self._state.update(len(part).to_bytes(8, "little"))
            self._state.update(part)
        self._state.update((layout.end - layout.begin).to_bytes(8, "little"))

    def update(self, data: bytes | memoryview) -> None:
        """The next bytes of the tensor."""
        self._state.update(data)

    def digest(self) -> Digest:
        """The digest, once all bytes have passed."""
        return Digest(self._state.hexdigest())


def pieces(file: ByteFile, layout: TensorLayout, size: int = PIECE) -> Iterator[bytes]:
    """The bytes of one tensor in order, `size` at a time."""
    for at in range(layout.begin, layout.end, size):
        yield file.read(at, min(size, layout.end - at))


def streamed_digest(file: ByteFile, name: str, layout: TensorLayout) -> Digest:
    """The digest of one tensor in constant memory."""
    digester = TensorDigester(name, layout)
    for piece in pieces(file, layout):
        digester.update(piece)
    return digester.digest()


def rows_of(file: ByteFile, layout: TensorLayout, rows: Iterable[int]) -> tuple[bytes, ...]:
    """The bytes of some rows (first axis) of a tensor; those outside it are left out."""
    count = layout.shape[0] if layout.shape else 0
    width = (layout.end - layout.begin) // count if count else 0
    return tuple(file.read(layout.begin + r * width, width) for r in rows if 0 <= r < count)


def rows_digest(name: str, layout: TensorLayout, found: tuple[bytes, ...]) -> Digest:
    """Of a tensor's name, dtype and shape, and of these rows of it."""
    shape = ",".join(map(str, layout.shape))
    return Digest.of_parts(name.encode(), layout.dtype.encode(), shape.encode(), *found)
