"""The shape of the tree; networkx stays in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hypotree.errors import MisuseError, UnknownNameError
from hypotree.model.declaration import SYMPTOM, Hypothesis

if TYPE_CHECKING:
    import networkx as nx


def check_parents(hypotheses: Mapping[str, Hypothesis]) -> None:
    """That every node hangs below the symptom; `MisuseError` names a cycle or what is not there."""
    settled = {SYMPTOM}
    for start in hypotheses:
        path: dict[str, None] = {}
        node = start
        while node not in settled:
            if node in path:
                names = list(path)
                cycle = " > ".join([*names[names.index(node) :], node])
                raise MisuseError(
                    "building the tree", f"hypotheses are their own ancestors: {cycle}"
                )
            if node not in hypotheses:
                raise UnknownNameError(
                    f"placing {list(path)[-1]}", f"its parent {node!r} is no hypothesis"
                )
            path[node] = None
            node = hypotheses[node].parent
        settled.update(path)


def check_rivals(hypotheses: Mapping[str, Hypothesis]) -> None:
    """That every rival is a hypothesis, too."""
    for node, hypothesis in hypotheses.items():
        for rival in hypothesis.rivals:
            if rival not in hypotheses or rival == node:
                raise UnknownNameError(
                    f"declaring {node}", f"its rival {rival!r} is no other hypothesis"
                )


class HypothesisTree:
    """Hypotheses below the symptom, each under its parent, with rivalry beside."""

    def __init__(self, hypotheses: Mapping[str, Hypothesis]) -> None:
        import networkx as nx

        check_parents(hypotheses)
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_node(SYMPTOM)
        graph.add_nodes_from(hypotheses)
        graph.add_edges_from((hypothesis.parent, n) for n, hypothesis in hypotheses.items())
        self._graph = graph
        self._hypotheses = hypotheses

    def walk(self) -> Iterator[tuple[str, int]]:
        """Every node with its depth (from 0), parents before children, siblings as declared."""
        stack = [(node, 0) for node in reversed(list(self._graph.successors(SYMPTOM)))]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            stack += [(n, depth + 1) for n in reversed(list(self._graph.successors(node)))]

    def children(self, node: str) -> tuple[str, ...]:
        """The hypotheses directly under `node`."""
        return tuple(self._graph.successors(node))

    def ancestors(self, node: str) -> tuple[str, ...]:
        """From the parent up to the symptom."""
        path: list[str] = []
        while node != SYMPTOM:
            node = next(iter(self._graph.predecessors(node)))
            path.append(node)
        return tuple(path)

    def rivals(self, node: str) -> tuple[str, ...]:
        """Declared rivals in either direction."""
        own = self._hypotheses[node].rivals
        others = (n for n, h in self._hypotheses.items() if node in h.rivals)
        return tuple(dict.fromkeys([*own, *others]))
