"""Which file tensor went into which parameter, by watching every operation of the loading.

A loader may copy, slice, join or keep tensors as it likes: what counts is which storage was
written, where, and out of which tensors. Works on the meta device, so a drafter of any size
costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Provenance(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Follows names from loaded tensors through operations into storages."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._names: dict[int, frozenset[str]] = {}
        self._alive: list[Tensor] = []
        self.writes: list[tuple[int, int, int, frozenset[str]]] = []
        """Storage, first element, how many, and out of which tensors."""

    def mark(self, tensor: Tensor, name: str) -> Tensor:
        """Say that `tensor` is the file's `name`."""
        self._keep(tensor, frozenset({name}))
        return tensor

    def names_of(self, tensor: Tensor) -> frozenset[str]:
        """The file tensors that a tensor was made of."""
        return self._names.get(storage(tensor), frozenset())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation; note what was written and what came out."""
        del types
        result = func(*args, **(kwargs or {}))
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        sources = frozenset().union(*(self.names_of(tensor) for tensor in inputs))
        if func._schema.is_mutable:
            written = [args[0]] if args and isinstance(args[0], Tensor) else []
            for tensor in written:
                self.writes.append(
                    (storage(tensor), int(tensor.storage_offset()), tensor.numel(), sources)
                )
        if sources:
            for leaf in tree_leaves(result):
                if isinstance(leaf, Tensor) and not func._schema.is_mutable:
                    self._keep(leaf, self.names_of(leaf) | sources)
        return result

    def _keep(self, tensor: Tensor, names: frozenset[str]) -> None:
        # Kept alive, so that no storage's number is used twice.
        self._alive.append(tensor)
        self._names[storage(tensor)] = names


def storage(tensor: Tensor) -> int:
    """A number for the memory behind a tensor."""
    return int(tensor.untyped_storage()._cdata)


def written(
    parameter: Tensor, log: Iterable[tuple[int, int, int, frozenset[str]]]
) -> dict[str, list[tuple[int, int]]]:
    """For each file tensor, the element ranges of `parameter` that it wrote."""
    own = storage(parameter)
    found: dict[str, list[tuple[int, int]]] = {}
    for where, begin, count, names in log:
        if where == own:
            for name in names:
                found.setdefault(name, []).append((begin, begin + count))
    return found


def covered(ranges: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """How many elements the ranges cover, and how many of them more than once."""
    total = twice = at = 0
    for begin, end in sorted(ranges):
        twice += max(0, min(end, at) - begin)
        total += max(0, end - max(begin, at))
        at = max(at, end)
    return total, twice
