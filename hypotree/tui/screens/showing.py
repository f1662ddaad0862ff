"""Showing: the parts of the bench, and how a board and the node under the cursor get into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.timer import Timer
from textual.widgets import Static, Tabs

from hypotree.artifact.plain import plain
from hypotree.model.declaration import SYMPTOM, Hypothesis
from hypotree.tui.content.detail import detail_lines
from hypotree.tui.screens.asking import Asking
from hypotree.tui.widgets.journal import JournalView
from hypotree.tui.widgets.page import Page
from hypotree.tui.widgets.strip import SymptomStrip
from hypotree.tui.widgets.tree import TreeView

if TYPE_CHECKING:
    from hypotree.session.asking import Answer
    from hypotree.tui.board import Board
    from hypotree.tui.desk import Desk
    from hypotree.tui.lines import Line

#: Seconds after which a cursor is taken to rest; a held key repeats every 33 ms.
_REST: Final = 0.05


class Showing(Asking):
    """What is on the screen of one session."""

    def __init__(self, desk: Desk, tab: str) -> None:
        super().__init__()
        self.desk = desk
        self.board: Board | None = None
        self.answers: dict[str, Answer] = {}
        self.filter = ""
        self.tab = tab
        self.strip, self.tree_view = SymptomStrip("strip"), TreeView("tree")
        self.detail, self.journal = Page("detail"), JournalView("journal")
        self.status = Static("", id="status", markup=False)
        self._shown: tuple[str, str] = ("", "")
        self._wants_detail = self._makes_detail = False
        self._detail_timer: Timer | None = None

    @property
    def node(self) -> str:
        """The node under the cursor; the symptom if there is none."""
        return self.tree_view.node

    def hypothesis(self) -> Hypothesis | None:
        """What the node under the cursor declares."""
        return self.board.shape.hypotheses.get(self.node) if self.board else None

    def take(self, board: Board) -> None:
        """Show another moment of the session."""
        self.board = board
        self.tree_view.take(board)
        if self.filter:
            self.set_filter(self.filter)
        self.journal.take(board.records, board.seq)
        self.paint_strip()
        self.show_detail()
        self.check_seen()
        self.refresh_footer()

    def show_detail(self) -> None:
        """Fill the open tab once the cursor rests: one that runs through the tree fills it once."""
        self._wants_detail = True
        if self._detail_timer is not None:
            self._detail_timer.stop()
        self._detail_timer = self.set_timer(_REST, self._make_detail)

    def _make_detail(self) -> None:
        """Make the lines on a worker; if others are wanted meanwhile, make those after."""
        board, node, tab = self.board, self.node, self.tab
        if board is None or self._makes_detail:
            return
        self._wants_detail, self._makes_detail = False, True
        answer = self.answers.get(node)

        def make() -> tuple[Board, list[Line]]:
            known = node in board.views or node == SYMPTOM
            now = board if known else self.desk.check(board, [node])
            found = self.desk.on_disk(now) if tab in {"artifacts", "trace"} else []
            return now, list(detail_lines(now, node, tab, answer, found))

        def arrived(made: tuple[Board, list[Line]]) -> None:
            self._detail_made()
            self._keep_views(made[0])
            self.detail.show(made[1], keep_place=self._shown == (node, tab))
            self._shown = (node, tab)

        self.work(make, arrived, self._detail_made, group="detail")

    def _detail_made(self) -> None:
        self._makes_detail = False
        if self._wants_detail:
            self.show_detail()

    def refresh_footer(self) -> None:
        """Show the keys that apply now."""
        self.refresh_bindings()

    def check_seen(self) -> None:
        """Compare the files of nodes that are seen and were not compared yet."""
        board = self.board
        if board is None:
            return
        seen = [n for n in self.tree_view.visible_nodes() if not board.is_checked(n)]
        if seen:
            self.work(lambda: self.desk.check(board, seen), self._keep_views, group="check")

    def _keep_views(self, board: Board) -> None:
        if self.board is not None and board.seq == self.board.seq and board is not self.board:
            self.board = board.joined(self.board)
            self.tree_view.take(self.board)
            self.refresh_footer()

    def show_answer(self, answer: Answer) -> None:
        """A plan has come: keep it and go to it."""
        self.say("")
        self.answers[answer.node] = answer
        self.show_tab("fix")
        self.show_detail()

    def show_tab(self, tab: str) -> None:
        """Another tab."""
        self.query_one("#tabs", Tabs).active = tab

    def go_to(self, node: str) -> None:
        """Select a node wherever it is; a filter that hides it is lifted."""
        outline = self.tree_view.outline
        if outline is not None and outline.shown is not None and node not in outline.shown:
            self.set_filter("")
        self.tree_view.select(node)

    def set_filter(self, standing: str) -> None:
        """Narrow the tree to nodes of one standing; "" shows all."""
        board, self.filter = self.board, standing
        if board is not None and standing:
            self.tree_view.narrow(lambda node: board.standing(node) == standing)
        else:
            self.tree_view.narrow(None)
        self.say(f"only {standing}; f shows all" if standing else "")

    def say(self, text: str) -> None:
        """One line above the footer."""
        self.status.update(plain(text, 300) if text else "")
        self.status.display = bool(text)

    def paint_strip(self) -> None:
        """The symptom, and the way from it down to the node."""
        board = self.board
        if board is not None:
            self.strip.take(board, " > ".join(board.shape.path(self.node)))
