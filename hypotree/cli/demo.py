"""hypotree demo: the founding incident, played with the real commands."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

import click

from hypotree.cli.echo import out, out_json, paint, wrapped
from hypotree.cli.options import json_option
from hypotree.errors import EXIT_OK, EXIT_TOOL, MisuseError, UnknownNameError
from hypotree.model.story import Step, Story
from hypotree.probe.entry_points import entry_points
from hypotree.session.approval import new_token

DEMO_GROUP = "hypotree.demos"


@click.command()
@click.argument("name", required=False)
@click.option("--keep", metavar="DIR", help="Make it in DIR and leave it there to explore.")
@json_option
def demo(name: str | None, keep: str | None, as_json: bool) -> int:
    """Replay the founding incident: artifacts made in seconds, every command the real one."""
    story = _story(name)
    with ExitStack() as stack:
        folder = _folder(keep, stack)
        started = time.monotonic()
        story.make(folder)
        made = time.monotonic() - started
        if not as_json:
            out(paint(f"{story.name}: {story.title}", "bold"))
            out(f"artifacts made in {folder} ({made:.1f} s)")
        ends = _play(story, folder, quiet=as_json)
    wrong = [end for end in ends if end["exit_code"] != end["expected"]]
    if as_json:
        out_json({"story": story.name, "steps": ends, "as_expected": not wrong})
    else:
        _say_ending(story, keep, time.monotonic() - started, len(wrong))
    return EXIT_TOOL if wrong else EXIT_OK


def _story(name: str | None) -> Story:
    known = entry_points(DEMO_GROUP)
    chosen = name or next(iter(sorted(known)), "")
    if chosen not in known:
        raise UnknownNameError(
            f"playing {chosen!r}", "no such demo", f"there are {', '.join(known) or 'none'}"
        )
    module, _, attribute = known[chosen].partition(":")
    story: Story = getattr(import_module(module), attribute)
    return story


def _folder(keep: str | None, stack: ExitStack) -> Path:
    if keep is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hypotree-demo-")))
    folder = Path(keep)
    if folder.exists() and any(folder.iterdir()):
        raise MisuseError(f"making the demo in {folder}", "the folder is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def _play(story: Story, folder: Path, *, quiet: bool) -> list[dict[str, object]]:
    token = new_token(folder)
    ends: list[dict[str, object]] = []
    for step in story.steps:
        if not quiet:
            _announce(step)
        if step.by_hand is not None:
            step.by_hand(folder)
        code = _run(step, folder, token, quiet=quiet)
        ends.append({"argv": step.argv, "exit_code": code, "expected": step.exit_code})
        if not quiet:
            note = "" if code == step.exit_code else paint(f", expected {step.exit_code}", "red")
            out(paint(f"(exit code {code}", "dim") + note + paint(")", "dim"))
    return ends


def _announce(step: Step) -> None:
    if step.say:
        out(f"\n{paint('##', 'blue')} {wrapped(step.say, 3)}")
    out()
    if step.hand:
        out(paint(f"# by hand: {step.hand}", "dim"))
    agreed = "   # a person agrees, by token" if step.as_person else ""
    out(paint(f"$ hypotree {shlex.join(step.argv)}{agreed}", "bold"))


def _run(step: Step, folder: Path, token: str, *, quiet: bool) -> int:
    sys.stdout.flush()
    sink = subprocess.DEVNULL if quiet else None
    command = [sys.executable, "-m", "hypotree", *step.argv]
    return subprocess.run(
        command, cwd=folder, env=_environment(step, token), stdout=sink, stderr=sink, check=False
    ).returncode


def _environment(step: Step, token: str) -> Mapping[str, str]:
    env = {key: value for key, value in os.environ.items() if key != "HYPOTREE_TOKEN"}
    return {**env, "HYPOTREE_TOKEN": token} if step.as_person else env


def _say_ending(story: Story, keep: str | None, seconds: float, wrong: int) -> None:
    out(f"\n{wrapped(story.ending, 0)}")
    if wrong:
        out(paint(f"{wrong} steps did not end as they should", "red"))
    else:
        out(f"all {len(story.steps)} steps ended as they should, {seconds:.0f} s")
    if keep:
        out(f"explore it: hypotree show {shlex.quote(keep)}")
