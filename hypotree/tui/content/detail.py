"""Which lines a tab shows for a node; what reads files is told apart, for a worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from hypotree.errors import HypotreeError
from hypotree.model.declaration import SYMPTOM, Hypothesis
from hypotree.tui.content.artifacts import OnDisk, artifact_lines, trace_lines, traces_of
from hypotree.tui.content.evidence import evidence_lines, symptom_lines
from hypotree.tui.content.fix import fix_lines, write_lines
from hypotree.tui.content.records import notes_lines, symptom_notes
from hypotree.tui.lines import Line, line, said

if TYPE_CHECKING:
    from hypotree.session.asking import Answer
    from hypotree.session.snapshot import NodeView
    from hypotree.tui.board import Board

TABS: Final = ("evidence", "fix", "artifacts", "trace", "notes")


def detail_lines(
    board: Board, node: str, tab: str, answer: Answer | None, found: list[OnDisk]
) -> Iterator[Line]:
    """The lines of one tab. It may read a trace, so it is called on a worker."""
    view = board.views.get(node)
    hypothesis = board.shape.hypotheses.get(node)
    if tab == "artifacts":
        yield from artifact_lines(found, view)
    elif tab == "trace":
        yield from trace_lines(traces_of(hypothesis, found))
    elif node == SYMPTOM:
        yield from _symptom(board, tab)
    elif view is None:
        yield line(said("reading …", "dim"))
    elif tab == "evidence":
        yield from evidence_lines(view)
    elif tab == "fix":
        yield from fix_lines(view, answer, board.view.writes, advice_of(hypothesis, view))
    else:
        yield from notes_lines(view, board.records[: board.seq])


def _symptom(board: Board, tab: str) -> Iterator[Line]:
    if tab == "evidence":
        yield from symptom_lines(board.view.measurements, board.view.symptom)
    elif tab == "fix":
        yield line(
            said("A symptom has no fix: its causes have. All writes of this session:", "dim")
        )
        for write in board.view.writes:
            yield from write_lines(write)
    else:
        yield from symptom_notes(board.records[: board.seq])


def advice_of(hypothesis: Hypothesis | None, view: NodeView) -> str:
    """What to do by hand, where the fault is confirmed and the probe knows."""
    if hypothesis is None or view.standing != "confirmed":
        return ""

    from hypotree.probe.registry import probe_class  # imports probes, which no paint waits for

    try:
        fault = probe_class(hypothesis.probe).fault(hypothesis.fault)
    except HypotreeError:
        return ""
    return fault.advice if fault else ""
