"""Trail: back and forward, as in a browser; and search over what a session holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypotree.tui.board import Board


class Trail:
    """Where one has been."""

    def __init__(self, limit: int = 200) -> None:
        self._back: list[str] = []
        self._ahead: list[str] = []
        self._here = ""
        self._limit = limit

    def visit(self, node: str) -> None:
        """Another place; what was ahead is gone."""
        if node == self._here:
            return
        if self._here:
            self._back = [*self._back, self._here][-self._limit :]
        self._here, self._ahead = node, []

    def back(self) -> str:
        """The place before; "" if there is none."""
        return self._step(self._back, self._ahead)

    def ahead(self) -> str:
        """The place that was gone back from; "" if there is none."""
        return self._step(self._ahead, self._back)

    def _step(self, source: list[str], sink: list[str]) -> str:
        if not source:
            return ""
        sink.append(self._here)
        self._here = source.pop()
        return self._here


def search_text(board: Board, node: str) -> str:
    """Everything by which a node can be found: id, claim, codes, artifacts, tensors."""
    hypothesis = board.shape.hypotheses[node]
    parts = [node, hypothesis.claim, hypothesis.fault, hypothesis.probe, board.standing(node)]
    parts += [board.refused.get(node, ""), *hypothesis.inputs]
    parts += [binding.artifact for binding in hypothesis.inputs.values()]
    view = board.views.get(node)
    if view is not None and view.evidence is not None:
        for finding in view.evidence.findings:
            parts += [finding.fault, *(at.tensor for at in finding.locators)]
    if hypothesis.fix is not None:
        parts += [hypothesis.fix.name, hypothesis.fix.tensor, *hypothesis.fix.names]
    return "\n".join(parts).casefold()


def matches(board: Board, query: str, order: Iterable[str]) -> tuple[str, ...]:
    """Nodes that hold every word of the query; if none does, those that come near it."""
    words = query.casefold().split()
    nodes = list(order)
    if not words:
        return ()
    found = tuple(n for n in nodes if all(w in search_text(board, n) for w in words))
    return found or _near("".join(words), board, nodes)


def _near(query: str, board: Board, nodes: list[str]) -> tuple[str, ...]:
    """By textual's matcher over ids and codes, which are short: its cost grows with the text."""
    from textual.fuzzy import FuzzySearch

    search = FuzzySearch()
    short = query[:12]
    scores = {
        n: search.match(short, f"{n} {board.shape.hypotheses[n].fault}"[:60])[0] for n in nodes
    }
    return tuple(sorted((n for n, s in scores.items() if s > 0), key=lambda n: -scores[n]))
