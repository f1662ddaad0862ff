"""hypotree add: one more hypothesis."""

from __future__ import annotations

import click

from hypotree.cli.echo import out
from hypotree.cli.options import actor, session_folder, session_options
from hypotree.errors import MisuseError
from hypotree.model.declaration import SYMPTOM, Binding, FixChoice, Hypothesis
from hypotree.probe.registry import probe_class, probe_for
from hypotree.session import Session


@click.command()
@session_options
@click.option("--id", "node", metavar="NODE", help="Its name; by default the next free H number.")
@click.option("--fault", required=True, metavar="CODE", help="The fault code that it names.")
@click.option("--claim", metavar="TEXT", help="What is wrong, in words; by default the code's own.")
@click.option("--probe", "probe_name", metavar="NAME", help="By default the one that decides CODE.")
@click.option("--input", "inputs", multiple=True, metavar="INPUT=ARTIFACT",
              help="By default every input of which the session has an artifact.")  # fmt: skip
@click.option("--fix", metavar="NAME", help="By default the code's own.")
@click.option("--tensor", default="", metavar="KEY", help="The tensor that the fix changes.")
@click.option("--parent", default=SYMPTOM, metavar="NODE", help="Where it hangs.")
@click.option("--rival", "rivals", multiple=True, metavar="NODE", help="What it competes with.")
def add(
    session_option: str | None,
    session_argument: str | None,
    node: str | None,
    fault: str,
    claim: str | None,
    probe_name: str | None,
    inputs: tuple[str, ...],
    fix: str | None,
    tensor: str,
    parent: str,
    rivals: tuple[str, ...],
) -> int:
    """Add a hypothesis to a session; nothing is decided before its probe has run."""
    folder = session_folder(session_option, session_argument)
    session = Session(folder, actor())
    probe = probe_class(probe_name) if probe_name else probe_for(fault)
    declared = probe.fault(fault)
    artifacts = [a.name for a in session.snapshot().artifacts]
    bound = _bindings(inputs) or {
        t.name: Binding(t.name) for t in probe.takes if t.name in artifacts
    }
    hypothesis = Hypothesis(
        claim=claim or (declared.claim if declared else fault),
        fault=fault,
        probe=probe.name,
        inputs=bound,
        fix=FixChoice(fix, tensor) if fix else None,
        parent=parent,
        rivals=rivals,
    )
    name = node or _next_free(session)
    session.add(name, hypothesis)
    out(f"{name} added; test it: hypotree probe run --session {folder} {name}")
    return 0


def _bindings(pairs: tuple[str, ...]) -> dict[str, Binding]:
    bound = {}
    for pair in pairs:
        name, equals, artifact = pair.partition("=")
        if not equals:
            raise MisuseError(f"reading --input {pair}", "it has no =", "--input draft=draft")
        bound[name] = Binding(artifact)
    return bound


def _next_free(session: Session) -> str:
    taken = {node.id for node in session.snapshot().nodes}
    return next(f"H{n}" for n in range(1, len(taken) + 2) if f"H{n}" not in taken)
