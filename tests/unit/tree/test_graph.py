"""The shape of the tree: cycles and unknown parents are refused by name. DESIGN 5."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypotree.errors import MisuseError, UnknownNameError
from hypotree.model.declaration import Hypothesis
from hypotree.tree.graph import HypothesisTree, check_parents, check_rivals


def under(parent: str = "symptom", *rivals: str) -> Hypothesis:
    return Hypothesis("a claim", "d2t.missing", "d2t-format", parent=parent, rivals=rivals)


def test_nodes_are_walked_parents_first_and_siblings_as_declared() -> None:
    tree = HypothesisTree({"B": under("A"), "A": under(), "C": under("A"), "D": under()})
    assert list(tree.walk()) == [("A", 0), ("B", 1), ("C", 1), ("D", 0)]
    assert tree.children("A") == ("B", "C")
    assert tree.ancestors("B") == ("A", "symptom")


def test_rivals_are_seen_from_both_sides() -> None:
    tree = HypothesisTree({"A": under("symptom", "B"), "B": under(), "C": under("symptom", "B")})
    assert tree.rivals("B") == ("A", "C")
    assert tree.rivals("A") == ("B",)


@pytest.mark.parametrize(
    ("parents", "words"),
    [
        ({"A": "A"}, "A > A"),
        ({"A": "B", "B": "A"}, "A > B > A"),
        ({"X": "A", "A": "B", "B": "C", "C": "A"}, "A > B > C > A"),
    ],
)
def test_a_cycle_is_refused_with_its_names(parents: dict[str, str], words: str) -> None:
    hypotheses = {node: under(parent) for node, parent in parents.items()}
    with pytest.raises(MisuseError, match=words):
        HypothesisTree(hypotheses)


def test_a_parent_that_is_not_there_is_refused_with_both_names() -> None:
    with pytest.raises(UnknownNameError, match=r"placing B.*'A'"):
        check_parents({"B": under("A")})


@pytest.mark.parametrize("rival", ["B", "A"])
def test_a_rival_must_be_another_hypothesis(rival: str) -> None:
    with pytest.raises(UnknownNameError, match=rival):
        check_rivals({"A": under("symptom", rival)})


@given(st.dictionaries(st.sampled_from("ABCDEFG"), st.sampled_from([*"ABCDEFG", "symptom"])))
def test_any_set_of_parents_is_a_tree_or_is_refused(parents: dict[str, str]) -> None:
    hypotheses = {node: under(parent) for node, parent in parents.items()}
    try:
        tree = HypothesisTree(hypotheses)
    except MisuseError:
        return
    assert sorted(node for node, _ in tree.walk()) == sorted(hypotheses)
    assert all(tree.ancestors(node)[-1] == "symptom" for node in hypotheses)


def test_a_chain_of_a_hundred_thousand_is_checked_at_once() -> None:
    check_parents(
        {f"H{n}": under(f"H{n + 1}" if n < 99_999 else "symptom") for n in range(100_000)}
    )
