"""Plan, apply, undo, redo, and what waits for a person.

Nothing here writes a file: `Session.apply` does, if the gate gives it a permit. What is added is
that the person has seen the very plan and typed the name of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hypotree.digest import Digest
from hypotree.errors import RefusedError
from hypotree.gate import Permit
from hypotree.model.declaration import Approve
from hypotree.model.event import Actor
from hypotree.model.fix import Plan
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.session import Session
from hypotree.session.approval import person
from hypotree.session.asking import Answer
from hypotree.session.fixing import Agree, Applied
from hypotree.tui.content.fix import answer_lines
from hypotree.tui.lines import line, said
from hypotree.tui.screens.pick import Choice

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


def plan(bench: Bench) -> None:
    """Stage the fix of this node, probe the staged view, ask the gate; nothing is written."""
    _plan(bench, bench.node, bench.show_answer)


def apply(bench: Bench) -> None:
    """Plan anew, show it, have the file's name typed, then let the session apply."""
    _plan(bench, bench.node, lambda answer: _ask(bench, answer))


def may_be_asked(answer: Answer) -> bool:
    """Whether nothing but a person's agreement stands between this plan and a write."""
    decision = answer.decision
    if isinstance(decision, Permit):
        return True
    return decision.code is RefusalCode.NEEDS_APPROVAL and not decision.also


def typed_name(plan: Plan) -> str:
    """What must be typed: the name of the (first) file that would be replaced."""
    return Path(plan.files[0].path).name


def agreed(seen: Digest) -> Agree:
    """A person's agreement to one plan; any other plan is refused."""

    def agree(answer: Answer) -> Actor:
        now = answer.plan.digest() if answer.plan else None
        if now != seen:
            raise RefusedError("applying", "the plan is not the one that was shown", "look again")
        return person()

    return agree


def _plan(bench: Bench, node: str, then: Callable[[Answer], object]) -> None:
    bench.say(f"planning the fix of {node} and probing the staged view …")
    bench.work(lambda: bench.desk.do(lambda session: session.plan(node)), then)


def _ask(bench: Bench, answer: Answer) -> None:
    bench.show_answer(answer)
    if not may_be_asked(answer) or answer.plan is None:
        _record_refusal(bench, answer)
        return
    if bench.desk.actor.is_agent:
        bench.tell("an agent may ask for a fix; a person types the name", "error")
        return
    name = typed_name(answer.plan)
    title = f"Write {answer.fix} for {answer.node} into {answer.plan.files[0].path}?"
    bench.confirm(title, name, tuple(answer_lines(answer)), lambda: _write(bench, answer))


def _write(bench: Bench, answer: Answer) -> None:
    assert answer.plan is not None
    agree = agreed(answer.plan.digest())
    bench.say(f"writing {answer.fix} for {answer.node}, then measuring again …")
    bench.work(
        lambda: bench.desk.do(lambda session: session.apply(answer.node, agree)),
        partial(_applied, bench, answer.node),
    )


def _applied(bench: Bench, node: str, result: Applied | Refusal) -> None:
    bench.answers.pop(node, None)
    if isinstance(result, Refusal):
        bench.tell(f"refused {result.code}: {result.found}", "error")
    else:
        bench.show_answer(result.answer)
        bench.answers.pop(node, None)
        tail = f"; not measured again: {result.not_measured}" if result.not_measured else ""
        bench.tell(f"written as {result.id} (u puts it back){tail}")
    bench.look()


def _record_refusal(bench: Bench, answer: Answer) -> None:
    """Who asks for a fix and is refused has asked: the journal says so. Nobody can agree here."""
    board, decision = bench.board, answer.decision
    asks = board is not None and board.view.policy.approve is Approve.ASK
    if isinstance(decision, Refusal):
        bench.tell(f"refused {decision.code}: {decision.found}", "error")
        if asks:
            work = partial(_apply_unagreed, answer.node)
            bench.work(lambda: bench.desk.do(work), lambda _: bench.look())


def _apply_unagreed(node: str, session: Session) -> Applied | Refusal | None:
    """Under `approve: ask` and with nobody to agree, this can only be refused."""

    def nobody(_: Answer) -> Actor:
        raise RefusedError("applying", "nobody agreed")

    state = session.state()
    known = state.plans.get(node)
    if known is not None and known[0] in state.approved_plans:
        return None
    return session.apply(node, nobody)


def undo(bench: Bench) -> None:
    """Put back what the latest write did."""
    write = bench.newest_write(undone=False)
    if write is not None:
        name = Path(write.files[0].path).name
        say = line(said(f"{write.id}: {write.fix} for {write.node} is put back. It can be redone."))
        bench.confirm(f"Undo {write.id}?", name, (say,), lambda: _do(bench, _undo(write.id)))


def redo(bench: Bench) -> None:
    """Do again what was undone last."""
    write = bench.newest_write(undone=True)
    if write is not None:
        name = Path(write.files[0].path).name
        say = line(said(f"{write.fix} for {write.node} is written again."))
        bench.confirm(
            f"Redo {write.fix} for {write.node}?", name, (say,), lambda: _do(bench, _redo)
        )


def _undo(swap: str) -> Callable[[Session], str]:
    return lambda session: f"put back, as {session.undo(swap)}"


def _redo(session: Session) -> str:
    return f"done again, as {session.redo()}"


def _do(bench: Bench, what: Callable[[Session], str]) -> None:
    def told(text: str) -> None:
        bench.tell(text)
        bench.look()

    bench.work(lambda: bench.desk.do(what), told)


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

    _do(bench, approve)
