"""Bench: the main screen of a session. It shows boards and starts commands; it decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Footer, Input, Tab, Tabs

from hypotree.model.declaration import SYMPTOM
from hypotree.tui.actions import seeing
from hypotree.tui.commands import COMMANDS
from hypotree.tui.content.detail import TABS
from hypotree.tui.content.records import subject
from hypotree.tui.jobs import Job, Jobs, job_text
from hypotree.tui.memory import Remembered, recall, remember
from hypotree.tui.palette import CommandProvider
from hypotree.tui.screens.showing import Showing
from hypotree.tui.sketch import sketch
from hypotree.tui.trail import Trail
from hypotree.tui.watcher import Watcher

if TYPE_CHECKING:
    from hypotree.session.snapshot import WriteView
    from hypotree.tui.board import Board
    from hypotree.tui.desk import Desk
    from hypotree.tui.lines import Place
    from hypotree.tui.widgets.line_list import LineList

#: Trees of no more nodes than this are shown open at first.
_OPEN_AT_FIRST = 200


def _bindings() -> list[BindingType]:
    return [
        Binding(c.keys, f"do('{c.name}')", c.label, show=c.is_shown, tooltip=c.about)
        for c in COMMANDS.values()
    ]


class Bench(Showing):
    """Tree, detail, journal, symptom: everything of one session in sight."""

    CSS_PATH = "bench.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {CommandProvider}
    BINDINGS: ClassVar[list[BindingType]] = _bindings()
    AUTO_FOCUS = "#tree"

    def __init__(self, desk: Desk) -> None:
        self.left: Remembered = recall(desk.folder)
        super().__init__(desk, self.left.tab if self.left.tab in TABS else TABS[0])
        self.found: tuple[str, ...] = ()
        self.trail = Trail()
        self.marks: dict[str, str] = dict(self.left.marks)
        self.jobs = Jobs(desk.folder, desk.actor, lambda job: self.arrive(self._job_moved, job))
        self._watcher = Watcher(desk.journal, self._watched, lambda: self.arrive(self.look))
        self._is_looking = self._looks_again = False
        self._then: list[Callable[[], object]] = []
        self._usable: tuple[bool, ...] = ()
        self._save_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The symptom above, tree and detail, the journal below."""
        yield self.strip
        with Horizontal(id="middle"):
            yield self.tree_view
            with Vertical(id="right"):
                tabs = (Tab(f"{i} {name.title()}", id=name) for i, name in enumerate(TABS, 1))
                yield Tabs(*tabs, active=self.tab, id="tabs")
                yield self.detail
        yield self.journal
        yield Input(id="search", placeholder="search: enter finds, escape leaves", compact=True)
        yield self.status
        yield Footer(show_command_palette=False, compact=True)

    # -- a session's life --------------------------------------------------------

    def on_mount(self) -> None:
        """Paint by the journal at once; compare files after that."""
        self.query_one("#search").display = False
        if self.left.theme in self.app.available_themes:
            self.app.theme = self.left.theme
        self.call_after_refresh(lambda: self.work(self._begin, self._first))

    def _begin(self) -> Board:
        """On the worker: names first if there are many, then the session itself."""
        shape = sketch(self.desk.journal)
        if shape is not None:
            self.arrive(self.tree_view.take_sketch, shape, self.left.opened)
        return self.desk.look(check=False)

    def _first(self, board: Board) -> None:
        few = board.shape.children if len(board.shape.hypotheses) <= _OPEN_AT_FIRST else ()
        self.tree_view.take(board, self.left.opened or tuple(few))
        self.take(board)
        self.tree_view.select(self.left.node or SYMPTOM)
        if self.left.standing:
            self.set_filter(self.left.standing)
        for sentence in self.desk.recovered:
            self.tell(sentence, "warning", timeout=15)
        self._watcher.start()
        self.look()

    def on_unmount(self) -> None:
        """Stop looking; keep how the screen was left."""
        self._watcher.stop()
        self.jobs.stop()
        self.save()

    def look(self, then: Callable[[], object] | None = None) -> None:
        """Read the session again, on a worker; many calls at once become two."""
        if then is not None:
            self._then.append(then)
        if self._is_looking:
            self._looks_again = True
            return
        self._is_looking, waiting, self._then = True, self._then, []
        known = self.board

        def arrived(board: Board) -> None:
            self._is_looking = False
            self.take(board)
            for act in waiting:
                act()
            if self._looks_again or self._then:
                self._looks_again = False
                self.look()

        self.work(lambda: self.desk.look(known), arrived, self._look_failed)

    def _look_failed(self) -> None:
        self._is_looking = self._looks_again = False

    def _watched(self) -> tuple[str, ...]:
        board = self.board
        if board is None:
            return ()
        paths = (self.desk.path_of(a.artifact) for a in board.view.artifacts)
        return (str(self.desk.folder / "session.yaml"), *paths)

    # -- what happens --------------------------------------------------------------

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """The tree's cursor moved: another node's detail; the detail's: another place."""
        if event.list.id == "tree":
            self.trail.visit(self.node)
            self.paint_strip()
            self.show_detail()
            self.check_seen()
            self.save_soon()
        self.refresh_footer()

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Enter: from the tree to the detail, from an event to its node, from a place to its file."""
        if event.list.id == "tree":
            self.detail.focus()
        elif event.list.id == "journal" and self.board is not None:
            node = subject(self.board.records[event.list.cursor])
            if node in self.board.shape.hypotheses or node == SYMPTOM:
                self.go_to(node)
        elif event.list.id == "detail" and self.place() is not None:
            self.action_do("open")

    def on_tabs_tab_activated(self, event: Tabs.TabActivated) -> None:
        """Another tab was chosen, by key or by mouse."""
        if event.tab.id is not None and event.tab.id != self.tab:
            self.tab = event.tab.id
            self.show_detail()
            self.save_soon()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The search line was sent."""
        self.close_search()
        if event.value.strip():
            seeing.find(self, event.value)

    def open_search(self) -> None:
        """Show the search line, with what was searched before."""
        search = self.query_one("#search", Input)
        search.display = True
        search.focus()

    def close_search(self) -> None:
        """Hide it; what was typed stays."""
        self.query_one("#search").display = False
        self.tree_view.focus()

    def key_escape(self) -> None:
        """Out of the search line, out of a zoom, back to the tree."""
        if self.query_one("#search").display:
            self.close_search()
        elif self.maximized is not None:
            self.minimize()
        else:
            self.tree_view.focus()

    def _job_moved(self, job: Job) -> None:
        if job.state in {"done", "failed", "stopped"}:
            self.answers.pop(job.node, None)
            if job.state == "failed":
                self.tell(f"{job.node}: {job.said}", "error", timeout=10)
            self.look()
        self.show_status()

    def show_status(self) -> None:
        """What runs, and how far it is."""
        job = self.jobs.current
        self.say(job_text(job, len(self.jobs.waiting)) if job else "")
        self.refresh_footer()

    def refresh_footer(self) -> None:
        """Compose the footer anew only if other commands apply: it costs more than a cursor's move."""
        usable = tuple(c.is_shown and c.when(self) for c in COMMANDS.values())
        if usable != self._usable:
            self._usable = usable
            self.refresh_bindings()

    # -- commands ------------------------------------------------------------------

    def action_do(self, name: str) -> None:
        """Run a command of the table."""
        COMMANDS[name].run(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a command applies here and now; the footer asks, too."""
        if action == "do" and self.is_mounted:
            return COMMANDS[str(parameters[0])].when(self)
        return True

    def is_busy(self) -> bool:
        """Whether a probe runs or waits."""
        return self.jobs.current is not None or bool(self.jobs.waiting)

    def place(self) -> Place | None:
        """The file that the cursor of the detail is on."""
        return self.detail.current().place if self.focused is self.detail else None

    def fix_name(self) -> str:
        """The fix of the node under the cursor, as far as it is known."""
        view = self.board.views.get(self.node) if self.board else None
        return view.fix if view else ""

    def newest_write(self, *, undone: bool) -> WriteView | None:
        """The write that undo would put back, or that redo would do again."""
        return self.board.newest_write(undone=undone) if self.board else None

    def has_requests(self) -> bool:
        """Whether anything waits for a person."""
        board = self.board
        if board is None:
            return False
        proposed = any(a.proposed_by for a in board.view.artifacts)
        return proposed or bool(board.pending) or board.view.pending_policy is not None

    # -- leaving -------------------------------------------------------------------

    def set_theme(self, name: str) -> None:
        """Other colours, kept for next time."""
        self.app.theme = name
        self.save_soon()

    def save_soon(self) -> None:
        """Keep how the screen is, once it has been still for a second."""
        if self._save_timer is not None:
            self._save_timer.stop()
        self._save_timer = self.set_timer(1.0, self.save)

    def save(self) -> None:
        """Keep how the screen is."""
        outline = self.tree_view.outline
        if outline is not None:
            left = Remembered(
                tuple(n for n in outline.opened if n in outline.shape.children),
                self.node, self.tab, self.filter, self.marks, self.app.theme,
            )  # fmt: skip
            remember(self.desk.folder, left)

    def write_to_terminal(self, text: str) -> None:
        """Send a control sequence, such as a copy."""
        driver = self.app._driver  # noqa: SLF001 - as App.copy_to_clipboard does; tmux needs its own form
        if driver is not None:
            driver.write(text)

    def leave_for_sessions(self) -> None:
        """Close this session and choose another."""
        from hypotree.tui.screens.start import Start

        self.app.switch_screen(Start())
