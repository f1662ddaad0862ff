"""Search, filter, zoom, help, colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.tui.content.look import STANDINGS
from hypotree.tui.screens.pick import Choice
from hypotree.tui.trail import matches

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench

_THEMES: Final = (
    "textual-dark", "textual-light", "ansi-dark", "ansi-light", "nord", "gruvbox", "dracula",
    "tokyo-night", "monokai", "solarized-dark", "solarized-light", "catppuccin-mocha",
    "catppuccin-latte", "rose-pine", "flexoki",
)  # fmt: skip


def search(bench: Bench) -> None:
    """Open the search line."""
    bench.open_search()


def find(bench: Bench, query: str) -> None:
    """Search on a worker; go to the first match after the cursor."""
    board = bench.board
    if board is None:
        return

    def arrived(found: tuple[str, ...]) -> None:
        bench.found = found
        bench.refresh_footer()
        if not found:
            bench.tell(f"nothing holds {query!r}", "warning")
            return
        bench.say(f"{len(found)} found for {query!r}; n and N go on")
        bench.go_to(found[0])

    bench.work(lambda: matches(board, query, board.shape.below("symptom")), arrived)


def step(bench: Bench, by: int) -> None:
    """The next match, round the end."""
    if not bench.found:
        bench.tell("nothing was searched for: / does", "warning")
        return
    here = bench.found.index(bench.node) if bench.node in bench.found else -1 if by > 0 else 0
    index = (here + by) % len(bench.found)
    bench.say(f"match {index + 1} of {len(bench.found)}")
    bench.go_to(bench.found[index])


def find_next(bench: Bench) -> None:
    """The next match."""
    step(bench, 1)


def find_previous(bench: Bench) -> None:
    """The match before."""
    step(bench, -1)


def choose_filter(bench: Bench) -> None:
    """Show only nodes of one standing, with what is above them."""
    board = bench.board
    if board is None:
        return
    counts: dict[str, int] = {}
    for node in board.shape.hypotheses:
        standing = board.standing(node)
        counts[standing] = counts.get(standing, 0) + 1
    choices = [Choice("", f"all ({len(board.shape.hypotheses)})")]
    choices += [Choice(s, f"{s} ({counts[s]})") for s in STANDINGS if s in counts]
    bench.pick("Show only", choices, bench.set_filter)


def refresh(bench: Bench) -> None:
    """Compare every file again."""
    bench.look()
    bench.tell("comparing files again")


def zoom(bench: Bench) -> None:
    """This pane alone, or all of them."""
    if bench.maximized is not None:
        bench.minimize()
    elif bench.focused is not None:
        bench.maximize(bench.focused)


def show_help(bench: Bench) -> None:
    """All keys."""
    from hypotree.tui.commands import help_lines

    bench.read("Keys", help_lines())


def next_step(bench: Bench) -> None:
    """The most useful command now; asks the whole tree."""
    bench.work(
        bench.desk.next_step, lambda text: bench.tell(text or "nothing is left to do", timeout=12)
    )


def theme(bench: Bench) -> None:
    """Choose colours."""
    bench.pick("Colours", [Choice(name, name) for name in _THEMES], bench.set_theme)
