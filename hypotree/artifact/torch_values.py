"""What a torch file turns into: plain values with tensors as bytes, within bounds."""

from __future__ import annotations

from math import prod
from typing import Final, NamedTuple, Protocol, TypeAlias

from hypotree.artifact.plain import plain
from hypotree.artifact.strides import lines, row_major, span
from hypotree.artifact.tensor import DTYPE_BITS, TensorValue
from hypotree.errors import LimitError, MalformedError, UnreadableError

#: torch.Size, tuples and lists all come out as lists; dtypes and devices as their names.
TorchValue: TypeAlias = (
    "TensorValue | dict[str | int, TorchValue] | list[TorchValue]"
    " | str | int | float | bool | bytes | None"
)

MAX_DEPTH: Final = 64
MAX_NODES: Final = 1_000_000
#: Expanded tensors (stride 0) and views of one storage repeat bytes; files do it a few times over.
BYTES_FLOOR: Final = 256 * 1024 * 1024
BYTES_FACTOR: Final = 4
#: What copying one line of a strided tensor is held to cost, in bytes copied in one piece.
_LINE: Final = 64


class Name(NamedTuple):
    """A module and a name from the pickle: two texts, which nothing here imports."""

    module: str
    name: str

    @property
    def path(self) -> str:
        """Both with a dot between."""
        return f"{self.module}.{self.name}"


class StorageRef(NamedTuple):
    """A run of bytes in the file: `dtype` is "" for an untyped storage, `key` its name there."""

    dtype: str
    key: str
    size: int


class TensorRef(NamedTuple):
    """A tensor not read yet: `offset` and `strides` count elements of its storage."""

    storage: StorageRef
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Storages(Protocol):
    """Where the bytes of storages come from."""

    def read(self, storage: StorageRef, begin: int, length: int) -> bytes:
        """`length` bytes from `begin` of `storage`; `UnreadableError` if it has not that size."""


class Budget:
    """Counts values and bytes made from one file; `LimitError` past what its size can justify."""

    def __init__(self, file_size: int, asked: str) -> None:
        self.asked = asked
        self._bytes = BYTES_FLOOR + BYTES_FACTOR * file_size
        self._nodes = MAX_NODES

    def take_node(self, depth: int) -> None:
        """Counts one value at `depth`."""
        self._nodes -= 1
        if self._nodes < 0 or depth > MAX_DEPTH:
            found = f"it holds more than {MAX_NODES} values or {MAX_DEPTH} levels"
            raise LimitError(self.asked, found, "save the tensors alone")

    def take_bytes(self, count: int) -> None:
        """Counts the bytes of one tensor before they are made."""
        self._bytes -= count
        if self._bytes < 0:
            found = "its tensors take far more bytes than the file has"
            raise LimitError(self.asked, found, "save them contiguous, each with its own bytes")


def materialise(node: object, storages: Storages, budget: Budget, depth: int = 0) -> TorchValue:
    """The tree below `node` with every `TensorRef` read; shared parts are copied, each counted."""
    budget.take_node(depth)
    if isinstance(node, TensorRef):
        return _tensor(node, storages, budget)
    if isinstance(node, Name):
        return node.path
    if node is None or isinstance(node, (str, int, float, bytes)):
        return node
    if isinstance(node, dict):
        return {key: materialise(item, storages, budget, depth + 1) for key, item in node.items()}
    if isinstance(node, (list, tuple)) and not isinstance(node, StorageRef):
        return [materialise(item, storages, budget, depth + 1) for item in node]
    found = f"it holds a bare {type(node).__name__}"
    raise UnreadableError(budget.asked, found, "save tensors, or a dict of tensors")


def _tensor(ref: TensorRef, storages: Storages, budget: Budget) -> TensorValue:
    """The tensor's bytes, row-major; `MalformedError` if it reaches outside its storage."""
    bits = DTYPE_BITS[ref.dtype]
    width = bits // 8
    begin, length = ref.offset * width, span(ref.shape, ref.strides) * width
    if begin + length > ref.storage.size and length:
        found = f"a tensor needs bytes {begin} to {begin + length} of storage "
        found += f"{plain(ref.storage.key)}, which has {ref.storage.size}"
        raise MalformedError(budget.asked, found, "the file is damaged: save it again")
    budget.take_bytes(width * prod(ref.shape) + _LINE * lines(ref.shape, ref.strides))
    data = storages.read(ref.storage, begin, length) if length else b""
    return TensorValue(ref.dtype, ref.shape, row_major(data, width, ref.shape, ref.strides))
