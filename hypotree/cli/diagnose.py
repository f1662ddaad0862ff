"""hypotree diagnose: from a pile of files to the cause."""

from __future__ import annotations

from pathlib import Path

import click

from hypotree.cli.echo import out_json, talk
from hypotree.cli.options import actor
from hypotree.errors import EXIT_FAULT, EXIT_OK, EXIT_UNDECIDED, MisuseError

#: What makes the exit code 1, and whether what cannot be told makes it 3.
_FAIL_ON = ("undecided", "fault", "suspicion", "never")


@click.command()
@click.argument("draft", metavar="DRAFT")
@click.option("--target", metavar="PATH", help="The target checkpoint (its config is enough).")
@click.option("--engine", metavar="SPEC", help="sglang@VERSION, sglang:PATH, vllm@VERSION, …")
@click.option("--vocab-map", "--truth", "truth", metavar="PATH", help="The map that training used.")
@click.option("--truth-form", type=click.Choice(["offsets", "absolute"]), help="Form of that map.")
@click.option(
    "--train-config", "train", metavar="PATH", help="The config that training was run with."
)
@click.option("--log", metavar="PATH", help="A server log.")
@click.option("--hidden-states", "sample", metavar="PATH", help="A recorded sample.")
@click.option("--trace", metavar="PATH", help="A recorded forward trace.")
@click.option("--input", "more", multiple=True, metavar="NAME=PATH", help="Any other input.")
@click.option("--session", metavar="DIR", help="Keep it as a session in DIR (a new folder).")
@click.option("--playbook", metavar="FILE", default="", help="A playbook of your own.")
@click.option("--only-given", is_flag=True, help="Look around for nothing that is not named.")
@click.option("--fail-on", type=click.Choice(_FAIL_ON), default="undecided", show_default=True,
              help="undecided: 1 on a fault, 3 if it cannot tell. fault: 1 on a fault, else 0. "
              "suspicion: as undecided, and 1 on a suspicion. never: 0.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text",
              show_default=True, help="github: annotations for a workflow.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout (--format json).")
@click.option("--all", "everything", is_flag=True, help="Say why for each that was not checked.")
def diagnose(
    draft: str,
    truth_form: str | None,
    more: tuple[str, ...],
    session: str | None,
    playbook: str,
    only_given: bool,
    fail_on: str,
    form: str,
    as_json: bool,
    everything: bool,
    **given: str | None,
) -> int:
    """Find what is wrong with the drafter in DRAFT: every hypothesis of the playbook, tested.

    What you do not name is looked for around DRAFT and said. What is found so may decide
    findings, but opens no gate before a person approves it.
    """
    from hypotree.cli.diagnosis_progress import Progress
    from hypotree.diagnosis import Request, carry_out

    named = {name: value for name, value in given.items() if value} | _pairs(more)
    request = Request(
        draft, named, truth_form or "", playbook, session or "", is_looking=not only_given
    )
    kept = carry_out(request, Progress(), actor())
    found = kept.diagnosis
    if as_json or form == "json":
        out_json(found)
    elif form == "github":
        from hypotree.cli.diagnosis_github import print_annotations

        print_annotations(found)
    else:
        from hypotree.cli.diagnosis_text import print_diagnosis

        print_diagnosis(found, everything=everything)
    if session:
        _say_kept(Path(session), kept.token)
    return exit_code(found.verdict, fail_on, is_suspected=bool(found.suspicions))


def _pairs(more: tuple[str, ...]) -> dict[str, str]:
    for pair in more:
        if not all(pair.partition("=")):
            raise MisuseError(f"reading --input {pair}", "it is not NAME=PATH")
    return dict(pair.split("=", 1) for pair in more)


def exit_code(verdict: str, fail_on: str, *, is_suspected: bool) -> int:
    """The exit code of a diagnosis under a policy of --fail-on."""
    if fail_on == "never" or verdict == "healthy":
        return EXIT_OK
    if verdict == "faulty" or (fail_on == "suspicion" and is_suspected):
        return EXIT_FAULT
    return EXIT_OK if fail_on == "fault" else EXIT_UNDECIDED


def _say_kept(folder: Path, token: str) -> None:
    talk(f"kept as a session: hypotree show {folder}")
    if token:
        talk(f"token, shown once: {token}")
        talk("with it a person approves writes where no terminal is at hand (HYPOTREE_TOKEN)")
