"""hypotree approve, hypotree token: what only a person may do."""

from __future__ import annotations

from pathlib import Path

import click

from hypotree.artifact.plain import plain
from hypotree.cli.echo import out, talk
from hypotree.cli.options import actor, is_terminal, session_folder, token_from
from hypotree.errors import EXIT_OK, EXIT_REFUSED, MisuseError, RefusedError
from hypotree.model.event import Actor
from hypotree.session import Session
from hypotree.session.approval import new_token, person, person_by_token
from hypotree.session.snapshot import ArtifactView, SessionView


@click.command()
@click.option("--session", "folder", required=True, metavar="DIR", help="The session's folder.")
@click.argument("what", metavar="NODE|ARTIFACT|policy")
@click.option("--token-file", metavar="FILE", help="The session's token, where no terminal is.")
def approve(folder: str, what: str, token_file: str | None) -> int:
    """Agree to the plan of NODE, to ARTIFACT as it is now, or to a changed policy."""
    root = session_folder(folder)
    session = Session(root, actor())
    view = session.snapshot()
    artifact = next((a for a in view.artifacts if a.name == what), None)
    if what == "policy":
        _show_policy(view)
        session.approve_policy(approving_person(root, what, token_file))
        out("policy approved")
    elif artifact is not None:
        if what in {node.id for node in view.nodes}:
            raise MisuseError(f"approving {what}", "both a node and an artifact are called so")
        _show_artifact(artifact)
        approver = approving_person(root, what, token_file)
        digest = session.approve_artifact(what, approver, artifact.artifact)
        out(f"{what} approved as {digest}")
    else:
        return _approve_plan(session, root, what, token_file)
    return EXIT_OK


def _approve_plan(session: Session, root: Path, node: str, token_file: str | None) -> int:
    """The plan as it is now is shown first; what is approved is its digest."""
    from hypotree.cli.fix import print_answer

    answer = session.plan(node)
    print_answer(answer, to_stderr=True)
    if answer.plan is None:
        return EXIT_REFUSED
    approver = approving_person(root, node, token_file)
    out(f"plan of {node} approved: {session.approve_plan(node, approver, answer.plan.digest())}")
    return EXIT_OK


def _show_artifact(found: ArtifactView) -> None:
    said = found.artifact
    what = " ".join(part for part in (str(said.role), said.kind, said.form) if part)
    by = f", proposed by {found.proposed_by}" if found.proposed_by else ""
    talk(f"{plain(found.name)}: {plain(said.path, 400)} as {plain(what)}{by}")


def _show_policy(view: SessionView) -> None:
    now, wanted = view.policy, view.pending_policy or view.policy
    talk(f"approve: {now.approve} -> {wanted.approve}; rivals: {now.rivals} -> {wanted.rivals}")


@click.command()
@click.option("--session", "folder", required=True, metavar="DIR", help="The session's folder.")
def token(folder: str) -> int:
    """Make a new token for a session, at a terminal; the old one no longer works."""
    root = session_folder(folder)
    if not is_terminal():
        raise RefusedError("making a token", "this is no terminal", "a person makes it at one")
    typed = click.prompt(f"type the session's name ({root.resolve().name})", err=True)
    if typed != root.resolve().name:
        raise RefusedError("making a token", "the name was not typed")
    talk("shown once:")
    out(new_token(root))
    return 0


def approving_person(root: Path, name: str, token_file: str | None) -> Actor:
    """The person who approves: by token, else by typing `name` at a terminal."""
    if given := token_from(token_file):
        return person_by_token(root, given)
    if not is_terminal():
        raise RefusedError(
            f"approving {name}", "no terminal to ask a person at, and no token",
            "run it at a terminal, or give --token-file",
        )  # fmt: skip
    if click.prompt(f"type {name} to agree", err=True) != name:
        raise RefusedError(f"approving {name}", "its name was not typed: nothing was approved")
    return person()
