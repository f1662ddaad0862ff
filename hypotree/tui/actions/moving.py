"""Back and forward, marks, other sessions, leaving."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hypotree.tui.screens.reading import KeyPrompt

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


def back(bench: Bench) -> None:
    """Where one was before."""
    _step(bench, bench.trail.back(), "back")


def forward(bench: Bench) -> None:
    """Where one went back from."""
    _step(bench, bench.trail.ahead(), "ahead")


def _step(bench: Bench, node: str, way: str) -> None:
    if node:
        bench.tree_view.select(node)
    else:
        bench.say(f"there is nothing {way} of here")


def mark(bench: Bench) -> None:
    """Give the node under the cursor a letter."""
    prompt = KeyPrompt(f"mark {bench.node} with which letter?")
    bench.app.push_screen(prompt, partial(_mark, bench, bench.node))


def _mark(bench: Bench, node: str, letter: str | None) -> None:
    if letter:
        bench.marks[letter] = node
        bench.say(f"{node} is at '{letter}")
        bench.save_soon()


def jump(bench: Bench) -> None:
    """Go to a marked node."""
    known = ", ".join(f"{letter} {node}" for letter, node in sorted(bench.marks.items()))
    prompt = KeyPrompt(f"go to which mark? ({known or 'there are none: m makes one'})")
    bench.app.push_screen(prompt, partial(_jump, bench))


def _jump(bench: Bench, letter: str | None) -> None:
    if letter and letter in bench.marks:
        bench.go_to(bench.marks[letter])
    elif letter:
        bench.tell(f"there is no mark {letter}", "warning")


def sessions(bench: Bench) -> None:
    """Choose another session."""
    bench.leave_for_sessions()


def leave(bench: Bench) -> None:
    """Leave; what was typed and not sent is kept until the terminal is closed."""
    bench.app.exit()


def show_evidence(bench: Bench) -> None:
    """The Evidence tab."""
    bench.show_tab("evidence")


def show_fix(bench: Bench) -> None:
    """The Fix tab."""
    bench.show_tab("fix")


def show_artifacts(bench: Bench) -> None:
    """The Artifacts tab."""
    bench.show_tab("artifacts")


def show_trace(bench: Bench) -> None:
    """The Trace tab."""
    bench.show_tab("trace")


def show_notes(bench: Bench) -> None:
    """The Notes tab."""
    bench.show_tab("notes")
