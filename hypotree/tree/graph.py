"""The shape of the tree; networkx stays in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hypotree.errors import MisuseError, UnknownNameError
from hypotree.model.declaration import SYMPTOM, Hypothesis

if TYPE_CHECKING:
    import networkx as nx


class HypothesisTree:
    """Hypotheses below the symptom, each under its parent, with rivalry beside."""

    def __init__(self, hypotheses: Mapping[str, Hypothesis]) -> None:
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_node(SYMPTOM)
        graph.add_nodes_from(hypotheses)
        for node, hypothesis in hypotheses.items():
            if hypothesis.parent != SYMPTOM and hypothesis.parent not in hypotheses:
                raise UnknownNameError(
                    f"placing {node}", f"its parent {hypothesis.parent!r} is no hypothesis"
                )
            graph.add_edge(hypothesis.parent, node)
        if not nx.is_directed_acyclic_graph(graph):
            cycle = " > ".join(edge[0] for edge in nx.find_cycle(graph))
            raise MisuseError("building the tree", f"hypotheses are their own ancestors: {cycle}")
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
