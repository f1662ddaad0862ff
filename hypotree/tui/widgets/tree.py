"""TreeView: the outline of hypotheses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from hypotree.model.declaration import SYMPTOM
from hypotree.tui.content.tree import row_line, sketch_line
from hypotree.tui.lines import BLANK, Line, line, said
from hypotree.tui.outline import Outline
from hypotree.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from hypotree.tui.board import Board, Shape


class TreeView(LineList):
    """The tree of a board; only open nodes have rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "fold", "Close", show=False),
        Binding("right,l", "unfold", "Open", show=False),
        Binding("space", "turn", "Open or close", show=False),
    ]

    def __init__(self, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self.board: Board | None = None
        self.outline: Outline | None = None

    def count(self) -> int:
        """The open rows, or one that says that the session is being read."""
        return len(self.outline.rows) if self.outline else 1

    def line_at(self, index: int) -> Line:
        """One node."""
        if self.outline is None:
            return line(said("reading the session …", "dim"))
        if index >= len(self.outline.rows):
            return BLANK
        row = self.outline.rows[index]
        is_open = self.outline.shown is not None or self.outline.is_open(row.node)
        if self.board is None:
            return sketch_line(self.outline.shape, row, is_open=is_open)
        return row_line(self.board, row, is_open=is_open)

    @property
    def node(self) -> str:
        """The node under the cursor."""
        rows = self.outline.rows if self.outline else []
        return rows[self.cursor].node if self.cursor < len(rows) else SYMPTOM

    def take_sketch(self, shape: Shape, opened: tuple[str, ...] = ()) -> None:
        """Show names and claims while the rest is being verified."""
        if self.board is None:
            self.outline = Outline(shape, opened)
            self.rows_changed()

    def take(self, board: Board, opened: tuple[str, ...] = ()) -> None:
        """Show another moment; the cursor stays on its node."""
        node = self.node
        self.board = board
        if self.outline is None:
            self.outline = Outline(board.shape, opened)
        elif self.outline.shape is not board.shape:
            self.outline.take(board.shape)
            index = self.outline.index(node)
            self.rows_changed()
            self.go(index if index >= 0 else self.cursor)
            return
        self.rows_changed()

    def select(self, node: str) -> None:
        """Go to a node, opening what is above it."""
        if self.outline is not None:
            index = self.outline.reveal(node)
            self.rows_changed()
            self.go(index)

    def narrow(self, keep: Callable[[str], bool] | None) -> None:
        """Show only what `keep` takes, with what is above it; None shows all."""
        if self.outline is not None:
            node = self.node
            self.outline.filter(keep)
            self.rows_changed()
            self.go(max(self.outline.index(node), 0))

    def visible_nodes(self) -> tuple[str, ...]:
        """The nodes whose rows are on the screen now."""
        rows = self.outline.rows if self.outline else []
        top = self.scroll_offset.y
        return tuple(r.node for r in rows[top : top + self.size.height] if r.node != SYMPTOM)

    def action_turn(self) -> None:
        """Open or close the node under the cursor."""
        if self.outline is not None:
            self.outline.toggle(self.cursor)
            self.rows_changed()

    def action_unfold(self) -> None:
        """Open the node; if it is open, go to its first child."""
        if self.outline is None or not self.outline.has_children(self.node):
            return
        if self.outline.is_open(self.node):
            self.action_move(1)
        else:
            self.action_turn()

    def action_fold(self) -> None:
        """Close the node; if it is closed, go to its parent."""
        if self.outline is None:
            return
        if self.outline.is_open(self.node) and self.outline.has_children(self.node):
            self.action_turn()
        elif self.node != SYMPTOM:
            self.go(self.outline.index(self.outline.shape.path(self.node)[-2]))

    def clicked(self, x: int) -> None:
        """A click on the fold mark opens or closes."""
        if self.outline is not None and self.outline.has_children(self.node):
            mark = 2 * min(self.outline.rows[self.cursor].depth, 20)
            if mark <= x <= mark + 1:
                self.action_turn()
