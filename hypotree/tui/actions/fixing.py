"""Plan, apply, undo, redo, and what waits for a person.

Nothing here writes a file: `Session.apply` does, if the gate gives it a permit. What is added is
that the person has seen the very plan and typed the name of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hypotree.errors import RefusedError
from hypotree.gate import Permit
from hypotree.model.declaration import Approve
from hypotree.model.event import Actor
from hypotree.model.fix import Plan
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.session import Session
from hypotree.session.approval import person
from hypotree.session.asking import Answer
from hypotree.session.fixing import Applied
from hypotree.tui.content.fix import answer_lines

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
    seen = answer.plan.digest()
    bench.say(f"writing {answer.fix} for {answer.node}, then measuring again …")
    bench.work(
        lambda: bench.desk.do(
            lambda session: session.apply(answer.node, lambda _: person(), seen=seen)
        ),
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
