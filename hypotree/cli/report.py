"""hypotree report export."""

from __future__ import annotations

from pathlib import Path

import click

from hypotree.atomic import write_file
from hypotree.cli.echo import out, talk
from hypotree.cli.options import actor, session_folder, session_options
from hypotree.report.markdown import to_markdown
from hypotree.session import Session


@click.group()
def report() -> None:
    """Export a session as a report."""


@report.command()
@session_options
@click.option("--format", "form", type=click.Choice(["md"]), default="md", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="By default the report goes to stdout.")
def export(
    session_option: str | None, session_argument: str | None, form: str, output: str | None
) -> int:
    """Write the session as Markdown: symptom, tree, evidence, refusals, writes, what is next."""
    session = Session(session_folder(session_option, session_argument), actor())
    document = to_markdown(session.snapshot())
    if output is None:
        out(document)
    else:
        write_file(Path(output), document.encode())
        talk(f"{form} report of {len(document)} characters written to {output}")
    return 0
