"""The table of all commands: keys, footer, palette and help are made from it, so none can be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

from hypotree.model.declaration import SYMPTOM
from hypotree.tui.lines import BLANK, Line, heading, line, said

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


@dataclass(frozen=True)
class Command:
    """One thing that can be done on the main screen."""

    name: str
    keys: str
    label: str
    about: str
    target: str
    """`module.function` of hypotree.tui.actions: imported when it is first used, not at the start."""
    when: Callable[[Bench], bool] = lambda _: True
    is_shown: bool = False
    """Whether the footer names it where it applies; help and palette name all."""

    def run(self, bench: Bench) -> None:
        """Do it."""
        module, _, function = self.target.partition(".")
        getattr(import_module(f"hypotree.tui.actions.{module}"), function)(bench)


def _on_node(bench: Bench) -> bool:
    return bench.node != SYMPTOM


def _writable(bench: Bench) -> bool:
    return _on_node(bench) and bench.fix_name() != "advice"


def _planned(bench: Bench) -> bool:
    return _writable(bench) and bench.node in bench.answers


def _busy(bench: Bench) -> bool:
    return bench.is_busy()


def _has_place(bench: Bench) -> bool:
    return bench.place() is not None


GROUPS: Final[dict[str, tuple[Command, ...]]] = {
    "Run probes": (
        Command("run", "r", "Run", "run the probe of this node (of the symptom: measure it)",
                "running.run_node", is_shown=True),
        Command("run-stale", "R", "Run all", "run every node that is untested or stale",
                "running.run_stale"),
        Command("run-below", "ctrl+r", "Run subtree", "run this node and all below it",
                "running.run_below"),
        Command("measure", "S", "Measure", "measure the symptom", "running.measure"),
        Command("stop", "x", "Stop", "stop what runs and drop what waits", "running.stop", _busy,
                is_shown=True),
    ),
    "Fix": (
        Command("plan", "p", "Plan", "what the fix would change, and what the gate says",
                "fixing.plan", _writable, is_shown=True),
        Command("apply", "A", "Apply", "write the fix, if the gate admits it and you type its name",
                "fixing.apply", _writable, is_shown=True),
        Command("undo", "u", "Undo", "put back what the latest write did", "undoing.undo",
                lambda b: b.newest_write(undone=False) is not None),
        Command("redo", "U", "Redo", "do again what was undone last", "undoing.redo",
                lambda b: b.newest_write(undone=True) is not None),
        Command("requests", "P", "Requests", "what waits for a person: plans, truths, the policy",
                "asked.requests", lambda b: b.has_requests(), is_shown=True),
    ),
    "Declare": (
        Command("add", "a", "Add", "add a hypothesis below this node", "declaring.add",
                is_shown=True),
        Command("edit", "e", "Edit", "declare this node anew", "declaring.edit", _on_node),
        Command("split", "s", "Split", "one child for each line that you type", "declaring.split",
                _on_node),
        Command("rivals", "v", "Rivals", "link or unlink a rival", "declaring.rivals", _on_node),
        Command("bind", "b", "Bind probe", "choose what decides this node, by what there is to read",
                "declaring.bind", _on_node),
        Command("attach", "t", "Attach", "attach a log, a trace, a map; the symptom is measured again",
                "attaching.attach"),
        Command("note", "i", "Note", "leave a note", "attaching.note"),
    ),
    "See": (
        Command("search", "slash", "Search", "search claims, codes, artifacts, tensors",
                "seeing.search", is_shown=True),
        Command("next", "n", "Next", "next match", "seeing.find_next",
                lambda b: bool(b.found)),
        Command("previous", "N", "Previous", "match before", "seeing.find_previous",
                lambda b: bool(b.found)),
        Command("filter", "f", "Filter", "show only nodes of one standing", "seeing.choose_filter"),
        Command("refresh", "f5,ctrl+l", "Refresh", "compare every file again", "seeing.refresh"),
        Command("zoom", "z", "Zoom", "this pane alone, or all panes", "seeing.zoom"),
        Command("next-step", "full_stop", "What next", "the most useful command now",
                "seeing.next_step"),
        Command("theme", "ctrl+t", "Theme", "choose colours: dark, light, ANSI", "seeing.theme"),
    ),
    "Go": (
        Command("back", "left_square_bracket,ctrl+o,alt+left", "Back", "where you were before",
                "moving.back"),
        Command("forward", "right_square_bracket,alt+right", "Forward", "where you went back from",
                "moving.forward"),
        Command("mark", "m", "Mark", "mark this node with a letter", "moving.mark"),
        Command("jump", "apostrophe", "Jump", "go to a mark", "moving.jump"),
        Command("tab-1", "1", "Evidence", "the Evidence tab", "moving.show_evidence"),
        Command("tab-2", "2", "Fix", "the Fix tab", "moving.show_fix"),
        Command("tab-3", "3", "Artifacts", "the Artifacts tab", "moving.show_artifacts"),
        Command("tab-4", "4", "Trace", "the Trace tab", "moving.show_trace"),
        Command("tab-5", "5", "Notes", "the Notes tab", "moving.show_notes"),
    ),
    "Share": (
        Command("export", "w", "Export", "write the report", "sharing.export"),
        Command("copy", "y", "Copy", "copy the command that shows what is on the screen",
                "sharing.copy_command"),
        Command("open", "o", "Open", "open the file under the cursor in $EDITOR, at its line",
                "sharing.open_place", _has_place, is_shown=True),
        Command("inspect", "I", "Inspect", "browse the tensors of this node's checkpoint",
                "sharing.inspect"),
    ),
    "hypotree": (
        Command("help", "question_mark", "Help", "all keys", "seeing.show_help", is_shown=True),
        Command("sessions", "ctrl+e", "Sessions", "open another session, or begin one",
                "moving.sessions"),
        Command("quit", "q", "Quit", "leave; nothing is lost", "moving.leave", is_shown=True),
    ),
}  # fmt: skip

COMMANDS: Final = {command.name: command for group in GROUPS.values() for command in group}

_MOVES: Final = (
    ("j k, arrows", "up and down"), ("h l, arrows", "close and open"), ("space", "open or close"),
    ("g G", "first and last"), ("ctrl+d ctrl+u", "half a page"), ("tab", "next pane"),
    ("enter", "from the tree to the detail"), ("ctrl+p", "all commands, by name"),
)  # fmt: skip


def help_lines() -> Iterator[Line]:
    """Every key with what it does."""
    yield heading("Move")
    for keys, about in _MOVES:
        yield line(said(f"  {keys:<22}", "accent"), said(about), indent=24)
    for name, group in GROUPS.items():
        yield BLANK
        yield heading(name)
        for command in group:
            keys = key_text(command.keys)
            yield line(said(f"  {keys:<22}", "accent"), said(command.about), indent=24)


_SPOKEN: Final = {
    "slash": "/", "question_mark": "?", "left_square_bracket": "[", "apostrophe": "'",
    "right_square_bracket": "]", "full_stop": ".",
}  # fmt: skip


def key_text(keys: str) -> str:
    """Keys as one reads them."""
    return " ".join(_SPOKEN.get(key, key) for key in keys.split(","))
