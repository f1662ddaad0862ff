"""Folding events: what holds after them, and who may make it hold. DESIGN rules 4 and 8."""

from __future__ import annotations

from typing import Any

import pytest

from hypotree.digest import Digest
from hypotree.model import event as ev
from hypotree.model.declaration import (
    Approve,
    Artifact,
    Declaration,
    Hypothesis,
    Policy,
    Rivals,
    Symptom,
)
from hypotree.model.verdict import Role
from hypotree.tree.replay import SessionState, fold

CLI, AGENT, HUMAN = ev.Actor("cli"), ev.Actor("agent", "x"), ev.Actor("human", "ada")
ONE, TWO, THREE = (Digest.of(word) for word in (b"1", b"2", b"3"))
MAP = Artifact("d2t.pt", Role.TRUTH)
AUTO, ASK = Policy(Approve.AUTO), Policy(Approve.ASK)
TESTED = Policy(Approve.ASK, Rivals.TESTED)


def claim(text: str = "a claim", **more: Any) -> Hypothesis:
    return Hypothesis(text, "d2t.missing", "d2t-format", **more)


def loaded(
    yaml: Digest = ONE, policy: Policy = ASK, artifact: Artifact = MAP, content: Digest = ONE,
    **hypotheses: Hypothesis,
) -> ev.DeclarationLoaded:  # fmt: skip
    declaration = Declaration(Symptom("slow"), {"map": artifact}, hypotheses, policy)
    return ev.DeclarationLoaded(yaml, declaration, {"map": content})


def after(*events: ev.Event | tuple[ev.Event, ev.Actor]) -> SessionState:
    records = []
    for number, item in enumerate(events, 1):
        event, actor = item if isinstance(item, tuple) else (item, CLI)
        records.append(ev.Record(number, "2025", actor, event, ONE, ONE))
    return fold(records)


# -- truths -----------------------------------------------------------------------------------


def test_the_first_session_yaml_is_a_persons_declaration() -> None:
    known = after(loaded()).artifacts["map"]
    assert known.approved == {ONE: MAP}
    assert known.proposed_by is None


def test_an_agents_first_session_yaml_is_a_proposal() -> None:
    state = after((loaded(policy=AUTO, H1=claim()), AGENT))
    assert state.artifacts["map"].approved == {}
    assert state.artifacts["map"].proposed_by == AGENT
    assert state.policy == ASK
    assert state.pending_policy == (ONE, AUTO)
    assert state.persons == set()


def test_a_later_session_yaml_approves_nothing() -> None:
    moved = Artifact("other.pt", Role.TRUTH)
    state = after(loaded(), loaded(TWO, artifact=moved, content=TWO))
    assert state.artifacts["map"].approved == {ONE: MAP}
    assert state.artifacts["map"].proposed_by == CLI


def test_loading_the_same_declaration_again_changes_nothing() -> None:
    assert after(loaded(), loaded(TWO, content=TWO)).artifacts == after(loaded()).artifacts


@pytest.mark.parametrize(
    ("actor", "approved"), [(CLI, {TWO: MAP}), (HUMAN, {TWO: MAP}), (AGENT, {})]
)
def test_what_a_command_attaches_is_declared_and_what_an_agent_attaches_is_not(
    actor: ev.Actor, approved: dict[Digest, Artifact]
) -> None:
    state = after((ev.ArtifactAttached("new", MAP, TWO), actor))
    assert state.artifacts["new"].approved == approved


def test_an_agent_that_points_a_persons_name_elsewhere_makes_it_a_proposal() -> None:
    elsewhere = Artifact("evil.pt", Role.TRUTH)
    state = after(loaded(), (ev.ArtifactAttached("map", elsewhere, TWO), AGENT))
    assert state.artifacts["map"].proposed_by == AGENT
    assert TWO not in state.artifacts["map"].approved


def test_an_approval_of_a_declaration_that_is_gone_leaves_the_new_one_proposed() -> None:
    elsewhere = Artifact("evil.pt", Role.TRUTH)
    state = after(
        loaded(),
        (ev.ArtifactAttached("map", elsewhere, TWO), AGENT),
        (ev.ArtifactApproved("map", MAP, TWO), HUMAN),
    )
    assert state.artifacts["map"].proposed_by == AGENT


# -- policy -----------------------------------------------------------------------------------


def test_a_looser_policy_waits_for_a_person() -> None:
    state = after(loaded(policy=TESTED), loaded(TWO, policy=AUTO))
    assert state.policy == TESTED
    assert state.pending_policy == (TWO, AUTO)
    assert (
        after(
            loaded(policy=TESTED), loaded(TWO, policy=AUTO), (ev.DeclarationApproved(TWO), HUMAN)
        ).policy
        == AUTO
    )


def test_a_stricter_policy_holds_at_once() -> None:
    state = after(loaded(policy=AUTO), loaded(TWO, policy=TESTED))
    assert state.policy == TESTED
    assert state.pending_policy is None


def test_of_a_mixed_policy_the_strict_half_holds_at_once() -> None:
    wanted = Policy(Approve.AUTO, Rivals.TESTED)
    state = after(loaded(policy=ASK), loaded(TWO, policy=wanted))
    assert state.policy == TESTED
    assert state.pending_policy == (TWO, wanted)


def test_an_approval_is_for_the_policy_that_was_pending() -> None:
    state = after(
        loaded(), loaded(TWO, policy=AUTO), loaded(THREE), (ev.DeclarationApproved(TWO), HUMAN)
    )
    assert state.policy == ASK


# -- hypotheses -------------------------------------------------------------------------------


def test_nodes_of_a_persons_hand_may_say_roles_and_those_of_an_agent_may_not() -> None:
    state = after(
        loaded(H1=claim(), H2=claim()),
        (ev.HypothesisAdded("H3", claim()), AGENT),
        (ev.HypothesisEdited("H2", claim("another")), AGENT),
        (ev.HypothesisAdded("H4", claim()), CLI),
    )
    assert state.persons == {"H1", "H4"}


def test_an_agent_or_an_edited_yaml_takes_no_rival_away_and_a_person_does() -> None:
    both = {"H1": claim(rivals=("H2",)), "H2": claim()}
    for event, actor in [
        (ev.HypothesisEdited("H1", claim()), AGENT),
        (loaded(TWO, H1=claim()), CLI),
    ]:
        assert after(loaded(**both), (event, actor)).hypotheses["H1"].rivals == ("H2",)
    edited = (ev.HypothesisEdited("H1", claim()), CLI)
    assert after(loaded(**both), edited).hypotheses["H1"].rivals == ()


def test_a_node_that_a_later_yaml_leaves_out_stays() -> None:
    assert set(after(loaded(H1=claim(), H2=claim()), loaded(TWO, H1=claim())).hypotheses) == {
        "H1",
        "H2",
    }


# -- writes -----------------------------------------------------------------------------------


def applied(swap: str, node: str = "H1") -> ev.FixApplied:
    return ev.FixApplied(swap, node, "restore-tensor", ONE, TWO, ())


def undone(swap: str, undoes: str, node: str = "H1") -> ev.SwapUndone:
    return ev.SwapUndone(swap, undoes, node, ())


def in_force(*events: ev.Event) -> list[str]:
    return [swap.id for swap in after(*events).in_force()]


def test_an_undo_and_its_undo_and_so_on() -> None:
    chain: list[ev.Event] = [applied("S1")]
    assert in_force(*chain) == ["S1"]
    chain.append(undone("S2", "S1"))
    assert in_force(*chain) == []
    assert [s.id for s in after(*chain).undone()] == ["S2"]
    chain.append(undone("S3", "S2"))
    assert in_force(*chain) == ["S3"]
    assert after(*chain).undone() == ()
    chain.append(undone("S4", "S3"))
    assert in_force(*chain) == []


def test_undoing_the_newer_of_two_fixes_of_a_node_leaves_the_older_in_force() -> None:
    state = after(applied("S1"), applied("S2"), undone("S3", "S2"))
    found = state.applied("H1")
    assert found is not None
    assert found.id == "S1"
    assert state.applied("H2") is None


def test_an_agreement_is_spent_by_the_write() -> None:
    agreed = (ev.FixApproved("H1", ONE), HUMAN)
    assert ONE in after(agreed).approved_plans
    assert ONE not in after(agreed, applied("S1")).approved_plans


@pytest.mark.parametrize("actor", [CLI, AGENT])
def test_nobody_but_a_person_approves_whatever_the_journal_holds(actor: ev.Actor) -> None:
    state = after(
        loaded(),
        loaded(TWO, policy=AUTO),
        (ev.FixApproved("H1", ONE), actor),
        (ev.DeclarationApproved(TWO), actor),
        (ev.ArtifactApproved("map", MAP, THREE), actor),
    )
    assert state.approved_plans == {}
    assert state.policy == ASK
    assert THREE not in state.artifacts["map"].approved


def test_a_swap_that_ended_or_was_abandoned_is_not_left_started() -> None:
    started = ev.SwapStarted("S1", "H1", ())
    assert set(after(started).started) == {"S1"}
    for end in (applied("S1"), undone("S1", "S0"), ev.SwapAbandoned("S1", "why")):
        assert after(started, end).started == {}


def test_folding_in_pieces_is_folding_at_once() -> None:
    events = [loaded(H1=claim()), applied("S1"), undone("S2", "S1"), ev.NoteAdded("H1", "n")]
    records = [ev.Record(n, "2025", CLI, e, ONE, ONE) for n, e in enumerate(events, 1)]
    whole = fold(records)
    for cut in range(5):
        assert fold(records[cut:], fold(records[:cut])) == whole
