"""The tree in the order in which it is shown; needs no graph library, which starts slowly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hypotree.model.declaration import SYMPTOM, Hypothesis


def in_order(hypotheses: Mapping[str, Hypothesis]) -> Iterator[tuple[str, int]]:
    """Every node with its depth (from 0), parents before children, siblings as declared.

    A node whose parent is not there stands at the top; one that is its own
    ancestor (which no session lets in) is left out.
    """
    children: dict[str, list[str]] = {}
    for node, hypothesis in hypotheses.items():
        parent = hypothesis.parent if hypothesis.parent in hypotheses else SYMPTOM
        children.setdefault(parent, []).append(node)
    stack = [(node, 0) for node in reversed(children.get(SYMPTOM, []))]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        stack += [(child, depth + 1) for child in reversed(children.get(node, []))]
