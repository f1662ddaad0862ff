"""hypotree new: start a session in a folder."""

from __future__ import annotations

from pathlib import Path

import click

from hypotree.cli.echo import out, out_json, talk
from hypotree.cli.options import actor, json_option
from hypotree.session.creating import NewSession, create_session


@click.command()
@click.argument("folder", metavar="DIR")
@click.option("--symptom", default="almost no draft token is accepted", help="What you saw.")
@click.option("--draft", metavar="PATH", help="The draft checkpoint.")
@click.option("--vocab-map", "--truth", "truth", metavar="PATH", help="The map that training used.")
@click.option("--engine", metavar="SPEC", help="sglang@VERSION, sglang:PATH, vllm@VERSION, …")
@click.option("--target", metavar="PATH", help="The target checkpoint (its config is enough).")
@click.option("--log", metavar="PATH", help="A server log.")
@click.option("--trace", metavar="PATH", help="A recorded forward trace.")
@click.option("--hidden-states", "sample", metavar="PATH", help="A recorded sample.")
@click.option("--approve", type=click.Choice(["ask", "auto"]), default="ask", show_default=True,
              help="Whether a person must agree to each write.")  # fmt: skip
@json_option
def new(folder: str, symptom: str, approve: str, as_json: bool, **given: str | None) -> int:
    """Write a session.yaml into DIR from what you name here, and begin its journal.

    What you name is your declaration: the maps, engines and targets are truths,
    as they are now.
    """
    paths = {name: value for name, value in given.items() if value}
    created = create_session(NewSession(Path(folder), symptom, paths, approve), actor())
    if as_json:
        out_json({"session": folder, "token": created.token or None})
        return 0
    out(f"{created.yaml} written: add hypotheses to it, or with hypotree add {folder} …")
    if not created.token:
        talk("begun by an agent: a person approves what it declares, and makes a token themselves")
        return 0
    talk(f"token, shown once: {created.token}")
    talk("with it a person approves writes where no terminal is at hand (HYPOTREE_TOKEN)")
    return 0
