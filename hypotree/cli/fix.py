"""hypotree fix list | plan | apply."""

from __future__ import annotations

from pathlib import Path

import click

from hypotree.artifact.plain import plain
from hypotree.cli.approve import approving_person
from hypotree.cli.echo import out, out_json, paint, talk, wrapped
from hypotree.cli.options import actor, is_terminal, json_option, session_folder, token_from
from hypotree.cli.plan_text import plan_lines
from hypotree.errors import EXIT_OK, EXIT_REFUSED, UnknownNameError
from hypotree.fix.catalog import FIXES
from hypotree.gate import Permit
from hypotree.model.event import Actor
from hypotree.model.refusal import Refusal
from hypotree.session import Session
from hypotree.session.asking import Answer
from hypotree.session.fixing import Agree, Applied
from hypotree.session.snapshot import NodeView, SessionView

_session = click.option("--session", "folder", required=True, metavar="DIR", help="The session.")


@click.group()
def fix() -> None:
    """List fixes; plan or apply the fix of a hypothesis."""


@fix.command("list")
@click.option("--session", "folder", metavar="DIR", help="The fixes bound to a session's nodes.")
@json_option
def list_fixes(folder: str | None, as_json: bool) -> int:
    """The fixes there are, or those of a session's nodes."""
    if folder is None:
        names: list[object] = list(FIXES)
    else:
        nodes = Session(session_folder(folder), actor()).snapshot().nodes
        names = [[node.id, node.fix, node.standing] for node in nodes]
    if as_json:
        out_json(names)
    else:
        for name in names:
            out("  ".join(plain(str(x)) for x in name) if isinstance(name, list) else str(name))
    return EXIT_OK


@fix.command("plan")
@_session
@click.argument("node")
@json_option
def plan_fix(folder: str, node: str, as_json: bool) -> int:
    """Show what the fix of NODE would change, and what the gate says. Nothing is written."""
    answer = Session(session_folder(folder), actor()).plan(node)
    if as_json:
        out_json(_as_value(answer))
    else:
        print_answer(answer)
    return EXIT_REFUSED if isinstance(answer.decision, Refusal) else EXIT_OK


@fix.command("apply")
@_session
@click.argument("node")
@click.option(
    "--in-place",
    is_flag=True,
    help="Write changed ranges into the file itself: for files too large to copy.",
)
@click.option("--yes", is_flag=True, help="Do not ask; the gate is asked all the same.")
@click.option("--token-file", metavar="FILE", help="The session's token, where no terminal is.")
@json_option
def apply_fix(
    folder: str, node: str, in_place: bool, yes: bool, token_file: str | None, as_json: bool
) -> int:
    """Write the fix of NODE, if the gate admits it; then measure again."""
    root = session_folder(folder)
    session = Session(root, actor())
    result = session.apply(node, _agree(root, token_file, yes=yes), in_place=in_place)
    view = session.snapshot()
    if as_json:
        out_json(_applied_value(result, view, node))
    elif isinstance(result, Refusal):
        print_refusal(result)
    else:
        print_applied(result, view, node)
    return EXIT_REFUSED if isinstance(result, Refusal) else EXIT_OK


def _agree(root: Path, token_file: str | None, *, yes: bool) -> Agree | None:
    """How the person is asked, if one is here: by token, or at the terminal with the plan shown."""
    has_token = bool(token_from(token_file))
    if not has_token and (yes or not is_terminal()):
        return None

    def ask_person(answer: Answer) -> Actor:
        assert answer.plan is not None
        if not has_token:
            print_answer(answer, to_stderr=True)
        return approving_person(root, Path(answer.plan.files[0].path).name, token_file)

    return ask_person


def print_answer(answer: Answer, *, to_stderr: bool = False) -> None:
    """The plan and the gate's word on it."""
    say = talk if to_stderr else out
    for line in plan_lines(answer):
        say(line)
    if isinstance(answer.decision, Permit):
        say(paint(f"the gate would let {answer.fix} write", "green"))
    elif to_stderr and answer.decision.code == "NEEDS_APPROVAL":
        say("the gate asks for your agreement")
    else:
        for line in refusal_lines(answer.decision):
            say(line)


def print_refusal(refusal: Refusal) -> None:
    """A refusal on stdout: it is the answer that was asked for."""
    for line in refusal_lines(refusal):
        out(line)


def refusal_lines(refusal: Refusal) -> list[str]:
    """A refusal in three lines, and what else stands against it."""
    lines = [
        paint(f"REFUSED {refusal.code}", "red") + f"  {wrapped(refusal.asked, 4)}",
        f"  found: {wrapped(refusal.found, 9)}",
        f"  next:  {wrapped(refusal.next, 9)}",
    ]
    return [*lines, f"  also:  {', '.join(refusal.also)}"] if refusal.also else lines


def print_applied(result: Applied, view: SessionView, node: str) -> None:
    """What was written, where the node stands now, how to go back, what to do next."""
    for line in plan_lines(result.answer):
        out(line)
    out(
        paint(f"WRITTEN as {result.id}", "green") + f"; undo: hypotree undo --session {view.folder}"
    )
    if result.not_measured:
        out(f"  not measured again: {wrapped(result.not_measured, 4)}")
    found = _node(view, node)
    out(f"{plain(node)} is {found.standing}")
    if view.measurements:
        out(f"  symptom now: {wrapped(view.measurements[-1].summary, 4)}")
    if view.next:
        out(f"next: {wrapped(view.next, 6)}")


def _node(view: SessionView, node: str) -> NodeView:
    for found in view.nodes:
        if found.id == node:
            return found
    raise UnknownNameError(f"finding {node!r}", "no such hypothesis in this session")


def _as_value(answer: Answer) -> object:
    gate = answer.decision
    return {
        "node": answer.node, "fix": answer.fix, "allowed": isinstance(gate, Permit),
        "plan": answer.plan, "plan_sha256": answer.plan.digest() if answer.plan else None,
        "staged": answer.staged, "refusal": gate if isinstance(gate, Refusal) else None,
    }  # fmt: skip


def _applied_value(result: Applied | Refusal, view: SessionView, node: str) -> object:
    if isinstance(result, Refusal):
        return {"written": False, "refusal": result}
    return {"written": True, "id": result.id, "plan": result.answer.plan,
            "standing": _node(view, node).standing, "next": view.next}  # fmt: skip
