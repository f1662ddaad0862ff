"""Options that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from hypotree.errors import MisuseError
from hypotree.model.event import Actor

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


def session_options(function: F) -> F:
    """A session as a positional folder or as --session."""
    option = click.option(
        "--session", "session_option", metavar="DIR", help="The session's folder."
    )
    argument = click.argument("session_argument", metavar="[DIR]", required=False)
    return option(argument(function))


def session_folder(option: str | None, argument: str | None = None) -> Path:
    """The one folder that was named; `MisuseError` if none or two were."""
    given = [value for value in (option, argument) if value]
    if len(given) != 1:
        found = "no folder was named" if not given else f"two folders were named: {given}"
        raise MisuseError("choosing a session", found, "give DIR or --session DIR")
    return Path(given[0])


def actor() -> Actor:
    """Who runs this command: a script or person, unless HYPOTREE_ACTOR names anybody else.

    Whoever is named is an agent: a word that we do not know must not make a person.
    """
    name = os.environ.get("HYPOTREE_ACTOR", "").strip()
    if name.lower() in {"", "cli"}:
        return Actor("cli")
    kind, colon, rest = name.partition(":")
    return Actor("agent", rest if colon and kind.lower() == "agent" else name)


def token_from(file: str | None) -> str:
    """The token a person gave by file or by HYPOTREE_TOKEN; "" if none."""
    if file:
        return Path(file).read_text("utf-8").strip()
    return os.environ.get("HYPOTREE_TOKEN", "")


def is_terminal() -> bool:
    """Whether a person can be asked here; an agent may well hold a terminal."""
    return not actor().is_agent and sys.stdin.isatty() and sys.stderr.isatty()
