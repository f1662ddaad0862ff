"""hypotree approve, hypotree token: what only a person may do."""

from __future__ import annotations

from pathlib import Path

import click

from hypotree.cli.echo import out, talk
from hypotree.cli.options import actor, is_terminal, session_folder, token_from
from hypotree.errors import RefusedError
from hypotree.model.event import Actor
from hypotree.session import Session
from hypotree.session.approval import new_token, person, person_by_token


@click.command()
@click.option("--session", "folder", required=True, metavar="DIR", help="The session's folder.")
@click.argument("what", metavar="NODE|ARTIFACT|policy")
@click.option("--token-file", metavar="FILE", help="The session's token, where no terminal is.")
def approve(folder: str, what: str, token_file: str | None) -> int:
    """Agree to the plan of NODE, to ARTIFACT as it is now, or to a changed policy."""
    root = session_folder(folder)
    session = Session(root, actor())
    view = session.snapshot()
    approver = approving_person(root, what, token_file)
    if what == "policy":
        session.approve_policy(approver)
        out("policy approved")
    elif what in {artifact.name for artifact in view.artifacts}:
        out(f"{what} approved as {session.approve_artifact(what, approver)}")
    else:
        out(f"plan of {what} approved: {session.approve_plan(what, approver)}")
    return 0


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
