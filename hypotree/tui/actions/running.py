"""Run probes: one node, all that are stale, a subtree; stop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from hypotree.model.declaration import SYMPTOM
from hypotree.tree.standing import Standing
from hypotree.tui.board import Board

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench

_DUE: Final = frozenset({str(Standing.UNTESTED), str(Standing.STALE)})


def run_node(bench: Bench) -> None:
    """Run the probe of the node under the cursor; the symptom is measured."""
    _queue(bench, [bench.node])


def run_stale(bench: Bench) -> None:
    """Run all that is untested or stale, after a look at every file."""

    def due_now() -> tuple[str, ...]:
        board = bench.board
        return due(bench.desk.check(board, board.standings), SYMPTOM) if board else ()

    bench.work(due_now, lambda nodes: _queue(bench, nodes))


def run_below(bench: Bench) -> None:
    """Run the node and all below it."""
    board = bench.board
    if board is not None:
        _queue(bench, board.shape.below(bench.node))


def measure(bench: Bench) -> None:
    """Measure the symptom."""
    _queue(bench, [SYMPTOM])


def stop(bench: Bench) -> None:
    """End what runs; what was not sealed leaves no trace."""
    count = bench.jobs.stop()
    bench.tell(f"stopped {count} run{'' if count == 1 else 's'}; nothing of them was recorded")


def due(board: Board, root: str) -> tuple[str, ...]:
    """Nodes under `root` whose probe has something to say that is not known yet."""
    return tuple(n for n in board.shape.below(root) if board.standing(n) in _DUE)


def _queue(bench: Bench, nodes: Iterable[str]) -> None:
    count = bench.jobs.add(nodes)
    if count == 0:
        bench.tell("nothing to run: nothing is untested or stale, or all of it waits already")
    bench.show_status()
