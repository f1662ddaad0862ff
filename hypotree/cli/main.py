"""The command line's root: commands are imported when they are called, errors become exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from typing import Final

import click

from hypotree import __version__
from hypotree.cli.echo import report_error, talk
from hypotree.errors import EXIT_TOOL, EXIT_USAGE, HypotreeError, ToolError

#: Command to module and function; the listing is the feature list.
COMMANDS: Final[dict[str, tuple[str, str, str]]] = {
    "tui": ("tui", "tui", "Open the terminal UI; `hypotree DIR` does the same."),
    "demo": ("demo", "demo", "Replay the founding incident with the real commands."),
    "probe": ("probe", "probe", "List, show and run probes."),
    "diagnose": ("diagnose", "diagnose", "Find what is wrong with a drafter, and what to do next."),
    "diff": ("diff", "diff", "Compare two checkpoints by the content of their tensors."),
    "new": ("new", "new", "Start a session in a folder."),
    "show": ("show", "show", "Show a session's tree and where each hypothesis stands."),
    "inspect": ("inspect", "inspect", "Browse a checkpoint's tensors, or compare two."),
    "add": ("add", "add", "Add a hypothesis to a session."),
    "attach": ("attach", "attach", "Add an artifact to a session: a new log, a map, a trace."),
    "approve": ("approve", "approve", "Agree to a plan, a truth or a changed policy, as a person."),
    "fix": ("fix", "fix", "List fixes; plan or apply the fix of a hypothesis."),
    "undo": ("undo", "undo", "Put back what a fix did."),
    "redo": ("undo", "redo", "Undo the latest undo."),
    "journal": ("journal", "journal", "Show or verify a session's journal."),
    "trace": ("trace", "trace", "Print hook specs for a running engine; show a trace."),
    "report": ("report", "report", "Export a session as a report."),
    "schema": ("schema", "schema", "Print a JSON schema."),
    "token": ("approve", "token", "Make a new token with which a person approves."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Every command, in the order of the feature list."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the one command that is asked for."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"hypotree.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list for --help, without importing a single command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, _, about) in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hypotree", message="%(prog)s %(version)s")
def cli() -> None:
    """Debug speculative-decoding draft checkpoints by hypotheses.

    No fix writes before its own probe has confirmed the hypothesis against a
    source of truth. Exit codes: 0 no fault or done, 1 a fault is confirmed,
    2 usage or unreadable input, 3 cannot tell, 4 refused by the gate, 5 the tool failed.
    """


def run() -> None:
    """Run the command line and exit with its code."""
    try:
        code = cli.main(_arguments(), standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_USAGE)
    except click.exceptions.Abort:
        talk("hypotree: stopped")
        sys.exit(EXIT_TOOL)
    except HypotreeError as error:
        report_error(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(EXIT_TOOL)
    except Exception as error:  # noqa: BLE001 - python would exit with 1, which means a fault is confirmed
        report_error(_tool_error(error))
        sys.exit(EXIT_TOOL)
    sys.exit(code if isinstance(code, int) else 0)


def _arguments() -> list[str]:
    """The arguments, with a bare folder or nothing at all taken for the terminal UI."""
    argv = sys.argv[1:]
    if argv and argv[0] in COMMANDS:
        return argv
    from hypotree.cli.tui import routed

    return routed(argv, COMMANDS)


def _tool_error(error: Exception) -> ToolError:
    """What nobody foresaw, in three parts; HYPOTREE_TRACEBACK shows where it came from."""
    if os.environ.get("HYPOTREE_TRACEBACK"):
        traceback.print_exc()
    found = f"{type(error).__name__}: {error}"
    return ToolError(
        "running hypotree", found, "HYPOTREE_TRACEBACK=1 shows where; please report it"
    )
