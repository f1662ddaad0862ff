"""Start: recent sessions, a new one from a folder, the demo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer, Static

from hypotree.errors import MisuseError
from hypotree.probe.flag_inputs import FLAG_INPUTS
from hypotree.session.creating import Created, NewSession, create_session
from hypotree.tui.lines import BLANK, Line, heading, line, said
from hypotree.tui.memory import recent
from hypotree.tui.screens.form import Field, Form, Values
from hypotree.tui.stories import make_demo
from hypotree.tui.widgets.line_list import LineList
from hypotree.tui.widgets.page import Page
from hypotree.tui.work import Working

if TYPE_CHECKING:
    from hypotree.tui.app import HypotreeApp


class Start(Working):
    """Where one is when no session was named."""

    DEFAULT_CSS = "Start #status { height: 1; color: $text-accent; }"
    AUTO_FOCUS = "#choices"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New session"),
        Binding("d", "demo", "Demo"),
        Binding("o", "other", "Open a folder"),
        Binding("q,escape", "leave", "Quit"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._drafts: dict[str, Values] = {}

    def compose(self) -> ComposeResult:
        """A list of what there is."""
        yield Page("choices")
        yield Static("", id="status", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Recent sessions, read on a worker."""
        self.work(recent, lambda found: self.query_one(Page).show(start_lines(found)))

    def on_screen_resume(self) -> None:
        """Back from a session."""
        self.query_one(Page).focus()

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Open what is under the cursor, or do what it says."""
        key = event.list.current().key
        if key in {"new", "demo", "other"}:
            getattr(self, f"action_{key}")()
        elif key:
            self._open(Path(key))

    def action_new(self) -> None:
        """A new session, from what one has."""
        self._ask("new", "A new session", new_fields(), self._new)

    def action_other(self) -> None:
        """A session by its folder."""
        self._ask("other", "Open a session", [Field("path", "its folder")], self._other)

    def action_demo(self) -> None:
        """The founding incident, made in a folder that is kept."""
        field = Field("path", "folder", str(Path.cwd() / "hypotree-demo"), "must be empty or new")
        self._ask("demo", "The founding incident, to explore", [field], self._demo)

    def action_leave(self) -> None:
        """Leave."""
        self.app.exit()

    def _ask(self, key: str, title: str, fields: list[Field], then: object) -> None:
        def keep(values: Values) -> None:
            self._drafts[key] = values

        def sent(values: Values | None) -> None:
            if values is not None:
                assert callable(then)
                then(values)

        self.app.push_screen(Form(title, fields, self._drafts.get(key, {}), keep), sent)

    def _new(self, values: Values) -> None:
        actor = cast("HypotreeApp", self.app).actor
        self.work(lambda: create_session(new_session(values), actor), self._created)

    def _created(self, made: Created) -> None:
        if made.token:
            self.tell(f"token, shown once: {made.token}", timeout=60)
        self._open(made.yaml.parent)

    def _other(self, values: Values) -> None:
        self.work(lambda: existing(values["path"]), self._open)

    def _demo(self, values: Values) -> None:
        self.query_one("#status", Static).update("making the incident's files …")
        self.work(lambda: make_demo(Path(values["path"]).expanduser()), self._open)

    def _open(self, folder: Path) -> None:
        cast("HypotreeApp", self.app).open_session(folder)


def existing(text: str) -> Path:
    """A folder with a session in it."""
    folder = Path(text.strip()).expanduser()
    if not (folder / "session.yaml").is_file():
        raise MisuseError(f"opening {folder}", "there is no session.yaml in it", "n begins one")
    return folder


def new_fields() -> list[Field]:
    """What a session can be begun with."""
    about = {
        "draft": "the draft checkpoint", "truth": "the vocabulary map that training used",
        "engine": "sglang@VERSION, sglang:PATH, vllm@VERSION, …",
        "target": "the target checkpoint", "log": "a server log", "trace": "a recorded trace",
        "sample": "a recorded sample",
    }  # fmt: skip
    fields = [
        Field("folder", "session folder", str(Path.cwd() / "session")),
        Field("symptom", "symptom", "almost no draft token is accepted"),
    ]
    return fields + [Field(name, name, "", about.get(name, "")) for name in FLAG_INPUTS]


def new_session(values: Values) -> NewSession:
    """What was typed, as a new session; a draft is the least."""
    paths = {n: str(Path(v).expanduser()) for n in FLAG_INPUTS if (v := values[n].strip())}
    if "draft" not in paths:
        raise MisuseError("beginning a session", "no draft checkpoint was named")
    return NewSession(Path(values["folder"].strip()).expanduser(), values["symptom"], paths, "ask")


def start_lines(found: tuple[Path, ...]) -> list[Line]:
    """Recent sessions, and how to begin."""
    lines = [line(said("hypotree", "strong"), said("  a lab bench for hypotheses", "dim")), BLANK]
    lines += [heading("Begin"), line(said("  n  ", "accent"), said("a new session"), key="new")]
    lines += [line(said("  o  ", "accent"), said("open a session's folder"), key="other")]
    lines += [line(said("  d  ", "accent"), said("the demo: the founding incident"), key="demo")]
    lines += [BLANK, heading("Recent sessions (enter opens)")]
    lines += [line(said(f"  {path}"), key=str(path)) for path in found]
    return lines if found else [*lines, line(said("  none yet", "dim"))]
