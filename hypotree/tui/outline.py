"""Outline: the rows of the tree that are open, as a flat list; no widget in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from hypotree.model.declaration import SYMPTOM

if TYPE_CHECKING:
    from hypotree.tui.board import Shape


class Row(NamedTuple):
    """One visible node."""

    node: str
    depth: int


class Outline:
    """Which rows are to be seen. Children are laid out when their node is opened, not before."""

    def __init__(self, shape: Shape, opened: Iterable[str] = ()) -> None:
        self.shape = shape
        self.opened = {SYMPTOM, *opened}
        self.shown: frozenset[str] | None = None
        self.rows: list[Row] = []
        self.lay_out()

    def lay_out(self) -> None:
        """Build all rows anew; costs the visible rows, not the tree."""
        self.rows = [Row(SYMPTOM, 0), *self._below(SYMPTOM, 1)]

    def take(self, shape: Shape) -> None:
        """Another shape of the tree; the same object costs nothing."""
        if shape is not self.shape:
            self.shape = shape
            self.lay_out()

    def toggle(self, index: int) -> None:
        """Open or close the node of a row; only the rows below it are touched."""
        if self.is_open(self.rows[index].node):
            self.close(index)
        else:
            self.open(index)

    def open(self, index: int) -> None:
        """Show the children of a row."""
        row = self.rows[index]
        if not self.is_open(row.node) and self.has_children(row.node):
            self.opened.add(row.node)
            self.rows[index + 1 : index + 1] = self._below(row.node, row.depth + 1)

    def close(self, index: int) -> None:
        """Hide all below a row."""
        row = self.rows[index]
        end = index + 1
        while end < len(self.rows) and self.rows[end].depth > row.depth:
            end += 1
        del self.rows[index + 1 : end]
        self.opened.discard(row.node)

    def reveal(self, node: str) -> int:
        """Open all above `node`; the index of its row, or that of the nearest row above it."""
        path = self.shape.path(node)
        if missing := {n for n in path[:-1] if n not in self.opened}:
            self.opened |= missing
            self.lay_out()
        return next((i for n in reversed(path) if (i := self.index(n)) >= 0), 0)

    def index(self, node: str) -> int:
        """The row of `node`; -1 if it is not to be seen."""
        return next((i for i, row in enumerate(self.rows) if row.node == node), -1)

    def filter(self, keep: Callable[[str], bool] | None) -> None:
        """Show only nodes that `keep` takes, and what lies above them; None shows all."""
        if keep is None:
            self.shown = None
        else:
            kept = [node for node in self.shape.hypotheses if keep(node)]
            self.shown = frozenset(n for node in kept for n in self.shape.path(node))
        self.lay_out()

    def is_open(self, node: str) -> bool:
        """Whether the children of `node` are shown."""
        return node in self.opened

    def has_children(self, node: str) -> bool:
        """Whether there is anything below `node`."""
        return bool(self.shape.children.get(node))

    def _below(self, node: str, depth: int) -> list[Row]:
        """The rows under an open node."""
        children, shown = self.shape.children, self.shown
        rows: list[Row] = []
        stack = [Row(n, depth) for n in reversed(children.get(node, ()))]
        while stack:
            row = stack.pop()
            if shown is not None and row.node not in shown:
                continue
            rows.append(row)
            if (shown is not None or row.node in self.opened) and row.node in children:
                stack += [Row(n, row.depth + 1) for n in reversed(children[row.node])]
        return rows
