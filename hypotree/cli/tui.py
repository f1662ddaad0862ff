"""hypotree [DIR]: the terminal UI, at a terminal; elsewhere the same session as text."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Sequence
from pathlib import Path

import click

from hypotree.cli.options import actor
from hypotree.errors import EXIT_OK, MisuseError
from hypotree.model.event import Actor


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
def tui(folder: str | None) -> int:
    """Open the terminal UI on the session in DIR; without DIR, choose one."""
    if not has_screen():
        raise MisuseError(
            "opening the terminal UI", "this is no terminal", "hypotree show DIR prints the same"
        )
    from hypotree.tui.app import run_app

    acting = actor()
    run_app(Path(folder) if folder else None, acting if acting.is_agent else Actor("cli", "tui"))
    return EXIT_OK


def routed(argv: Sequence[str], commands: Container[str]) -> list[str]:
    """What a bare `hypotree` or `hypotree DIR` means; everything else stays as it is."""
    if not argv:
        return ["tui"] if has_screen() else []
    first = argv[0]
    if first in commands or first.startswith("-") or not Path(first, "session.yaml").is_file():
        return list(argv)
    plain_folder = len(argv) == 1 and has_screen()
    return ["tui", first] if plain_folder else ["show", *argv]


def has_screen() -> bool:
    """Whether a person sees what we draw and can type."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") != "dumb"
