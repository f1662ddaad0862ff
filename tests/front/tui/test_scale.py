"""Ten thousand nodes, a hundred thousand events: what is not seen is not made. Counted, not timed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from front.tui.seat import sitting, ui
from front.tui.store import make_session

from hypotree.tui.board import shape_of
from hypotree.tui.content import records, tree
from hypotree.tui.outline import Outline
from hypotree.tui.widgets import journal as journal_widget
from hypotree.tui.widgets import tree as tree_widget


def counted(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, real: Callable[..., Any]
) -> list[int]:
    calls = [0]

    def count(*args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, count)
    return calls


@ui
async def test_of_ten_thousand_nodes_only_the_seen_rows_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_session(tmp_path, nodes=10_000, notes=0)
    rows = counted(monkeypatch, tree_widget, "row_line", tree.row_line)
    async with sitting(tmp_path, (100, 40)) as seat:
        assert rows[0] < 1_000
        before = rows[0]
        await seat.press("j", "j", "j")
        assert rows[0] - before < 250
        before = rows[0]
        await seat.press("G")
        assert rows[0] - before < 250
        assert len(seat.bench.tree_view.outline.rows) < 10_001


@ui
async def test_of_a_hundred_thousand_events_only_the_seen_lines_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_session(tmp_path, nodes=10, notes=100_000)
    lines = counted(monkeypatch, journal_widget, "record_line", records.record_line)
    async with sitting(tmp_path, (100, 40)) as seat:
        assert seat.bench.journal.count() > 100_000
        assert lines[0] < 500
        seat.bench.journal.focus()
        before = lines[0]
        await seat.press("home", "end", "pageup")
        assert lines[0] - before < 200


@ui
async def test_one_more_event_makes_no_new_shape_of_the_tree(tmp_path: Path) -> None:
    from hypotree.session import Session

    make_session(tmp_path, nodes=2_000, notes=0)
    other = Session(tmp_path)
    async with sitting(tmp_path) as seat:
        shape, outline = seat.bench.board.shape, seat.bench.tree_view.outline
        rows = outline.rows
        other.note("symptom", "one more")
        await seat.until(lambda: seat.bench.board.seq == len(other.records()))
        assert seat.bench.board.shape is shape
        assert seat.bench.tree_view.outline.rows is rows


def test_opening_a_node_touches_only_the_rows_below_it(tmp_path: Path) -> None:
    from hypotree.session import Session

    make_session(tmp_path, nodes=1_000, notes=0)
    outline = Outline(shape_of(Session(tmp_path).state()))
    closed = list(outline.rows)
    index = next(i for i, row in enumerate(closed) if outline.has_children(row.node) and i)
    outline.open(index)
    assert outline.rows[: index + 1] == closed[: index + 1]
    outline.close(index)
    assert outline.rows == closed
