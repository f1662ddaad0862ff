"""Rows of the tree, the symptom's strip, and the tree as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from hypotree.model.declaration import SYMPTOM
from hypotree.tui.content.look import sign, word
from hypotree.tui.lines import Line, Span, line, said
from hypotree.tui.outline import Outline, Row

if TYPE_CHECKING:
    from hypotree.tui.board import Board, Shape

#: Claims are cut here in a row; the detail shows them whole.
_CLAIM: Final = 160
_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_POINTS: Final = 40


def row_line(board: Board, row: Row, *, is_open: bool) -> Line:
    """A node in the tree: fold mark, sign, id, standing, badges, claim."""
    children = len(board.shape.children.get(row.node, ()))
    fold = ("▾ " if is_open else "▸ ") if children else "  "
    pad = Span("  " * min(row.depth, 20) + fold, "dim")
    if row.node == SYMPTOM:
        return line(pad, said("symptom ", "strong"), said(board.view.symptom, "", _CLAIM))
    standing = board.standing(row.node)
    hypothesis = board.shape.hypotheses[row.node]
    parts = [pad, sign(standing), said(f" {row.node} ", "strong"), word(standing)]
    parts += badges(board, row.node)
    if children and not is_open:
        parts.append(said(f" [{children}]", "dim"))
    return line(*parts, said("  " + hypothesis.claim, "", _CLAIM), key=row.node)


def sketch_line(shape: Shape, row: Row, *, is_open: bool) -> Line:
    """A node of which only the name and the claim are known yet: no standing, no badge."""
    fold = ("▾ " if is_open else "▸ ") if shape.children.get(row.node) else "  "
    claim = shape.hypotheses[row.node].claim if row.node in shape.hypotheses else "verifying …"
    pad = Span("  " * min(row.depth, 20) + fold, "dim")
    return line(pad, said(f"  {row.node} ", "strong"), said(claim, "dim", _CLAIM))


def badges(board: Board, node: str) -> list[Span]:
    """What else there is to know at a glance."""
    found = []
    if not board.is_checked(node):
        found.append(said(" (unchecked)", "dim"))
    if node in board.fixed:
        found.append(said(" [fix written]", "good"))
    elif node in board.pending:
        found.append(said(f" [asked by {board.pending[node]}]", "accent"))
    elif node in board.refused:
        found.append(said(f" [refused {board.refused[node]}]", "bad"))
    return found


def strip_lines(board: Board) -> list[Line]:
    """The symptom, and how its measure moved, with each write marked where it was made."""
    view = board.view
    head = line(said("symptom: ", "head"), said(view.symptom, "strong", 400))
    if view.journal_problem:
        return [head, line(said(f"JOURNAL BROKEN: {view.journal_problem}", "bad"))]
    if not view.measurements:
        return [head, line(said("not measured yet (S measures it)", "dim"))]
    return [head, *(_series(board, probe) for probe in _probes(board))]


def _probes(board: Board) -> list[str]:
    return list(dict.fromkeys(m.probe for m in board.view.measurements))


def _series(board: Board, probe: str) -> Line:
    """One way of measuring: a point each time it was taken, a bar where something was written."""
    runs = [m for m in board.view.measurements if m.probe == probe]
    values = [m.measures.get("accept_length") for m in runs]
    known = [v for v in values if v is not None]
    newest = f"{known[-1]:.2f}" if known else "no number"
    parts = [said(f"{probe} accept length {newest} ", "accent")]
    top = max([*known, 1e-9])
    events: list[tuple[str, Span]] = [
        (m.time, _point(v, top, is_new=m.is_new)) for m, v in zip(runs, values, strict=True)
    ]
    events += [(w.time, _mark(w.id, w.fix, w.undoes)) for w in board.view.writes]
    parts += [span for _, span in sorted(events, key=lambda e: e[0])[-_POINTS:]]
    return line(*parts)


def _point(value: float | None, top: float, *, is_new: bool) -> Span:
    """A bar as high as the value; dim where the same observations were only read again."""
    if value is None:
        return Span("·", "dim")
    height = round((len(_BLOCKS) - 1) * max(value, 0.0) / top)
    return Span(_BLOCKS[min(height, len(_BLOCKS) - 1)], "" if is_new else "dim")


def _mark(swap: str, fix: str, undoes: str) -> Span:
    return said(f"|{swap} undo|" if undoes else f"|{swap} {fix}|", "good", 60)


def tree_lines(board: Board) -> Iterator[Line]:
    """The whole tree, every node open: the text form."""
    outline = Outline(board.shape, board.shape.children)
    for row in outline.rows:
        yield row_line(board, row, is_open=True)
