"""What waits for a person: plans that agents asked for, proposed truths, a changed policy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hypotree.session import Session
from hypotree.session.approval import person
from hypotree.tui.actions.fixing import apply
from hypotree.tui.actions.undoing import do
from hypotree.tui.lines import line, said
from hypotree.tui.screens.pick import Choice

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


def requests(bench: Bench) -> None:
    """Pick something that waits for a person."""
    board = bench.board
    if board is None:
        return
    choices = [
        Choice(f"artifact:{a.name}", f"truth {a.name}: {a.artifact.path} ({a.artifact.role}), "
               f"proposed by {a.proposed_by}")
        for a in board.view.artifacts if a.proposed_by
    ]  # fmt: skip
    choices += [
        Choice(f"plan:{node}", f"fix of {node}, asked for by {who}")
        for node, who in board.pending.items()
    ]
    if wanted := board.view.pending_policy:
        text = f"policy: approve {wanted.approve}, rivals {wanted.rivals} (a changed session.yaml)"
        choices.append(Choice("policy:", text))
    bench.pick("What waits for a person", choices, partial(_request, bench))


def _request(bench: Bench, value: str) -> None:
    kind, _, name = value.partition(":")
    act = [Choice("approve", "approve it (its name is asked)"),
           Choice("refuse", "refuse it (a note says so)")]  # fmt: skip
    bench.pick(f"{kind} {name}", act, partial(_decide, bench, kind, name))


def _decide(bench: Bench, kind: str, name: str, choice: str) -> None:
    if choice == "refuse":
        node = name if kind == "plan" else "symptom"
        bench.work(
            lambda: bench.desk.do(lambda s: s.note(node, f"refused by a person: {kind} {name}")),
            lambda _: bench.look(),
        )
    elif bench.desk.actor.is_agent:
        bench.tell("approvals are a person's", "error")
    elif kind == "plan":
        bench.go_to(name)
        apply(bench)
    else:
        typed = name or "policy"
        say = line(said(f"{kind} {name} is taken over as it is declared now.".replace("  ", " ")))
        bench.confirm(f"Approve {kind} {name}?", typed, (say,), lambda: _approve(bench, kind, name))


def _approve(bench: Bench, kind: str, name: str) -> None:
    board = bench.board
    seen = (
        next((a.artifact for a in board.view.artifacts if a.name == name), None) if board else None
    )

    def approve(session: Session) -> str:
        if kind == "policy":
            session.approve_policy(person())
            return "policy approved"
        return f"{name} approved as {session.approve_artifact(name, person(), seen)}"

    do(bench, approve)
