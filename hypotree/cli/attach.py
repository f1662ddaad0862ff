"""hypotree attach: one more artifact."""

from __future__ import annotations

import os
from pathlib import Path

import click

from hypotree.cli.echo import out
from hypotree.cli.options import actor, session_folder
from hypotree.model.declaration import Artifact
from hypotree.model.verdict import Role
from hypotree.session import Session


@click.command()
@click.option("--session", "folder", required=True, metavar="DIR", help="The session's folder.")
@click.argument("name")
@click.argument("path")
@click.option("--role", type=click.Choice([str(role) for role in Role]), required=True)
@click.option("--kind", default="", help="checkpoint, vocabulary-map, engine, log, trace, sample.")
@click.option(
    "--form", type=click.Choice(["offsets", "absolute"]), help="Form of a vocabulary map."
)
def attach(folder: str, name: str, path: str, role: str, kind: str, form: str | None) -> int:
    """Add the artifact at PATH to a session as NAME, or point NAME at it."""
    root = session_folder(folder)
    session = Session(root, actor())
    stored = os.path.relpath(path, root) if Path(path).exists() else path
    session.attach(name, Artifact(stored, Role(role), kind, form or ""))
    out(f"{name} attached")
    return 0
