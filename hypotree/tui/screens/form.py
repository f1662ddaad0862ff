"""Form: a few fields. Escape closes it and loses nothing: the same form opens with what was typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static, TextArea

from hypotree.artifact.plain import plain

Values = dict[str, str]


@dataclass(frozen=True)
class Field:
    """One thing to type."""

    name: str
    label: str
    value: str = ""
    hint: str = ""
    is_long: bool = False


class Form(ModalScreen[Values | None]):
    """Returns the values, or None; `kept` is told at every way out."""

    DEFAULT_CSS = """
    Form { align: center middle; }
    Form > Vertical { width: 90%; max-width: 100; height: auto; max-height: 95%;
        border: round $primary; background: $surface; padding: 0 1; }
    Form VerticalScroll { height: auto; max-height: 100%; }
    Form Input { height: 1; margin: 0 0 1 0; background: $boost; }
    Form TextArea { height: 6; margin: 0 0 1 0; }
    Form .title { text-style: bold; }
    Form .label { color: $text-muted; }
    Form Button { min-width: 14; height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close, nothing is lost"),
        Binding("ctrl+s", "send", "Done"),
    ]

    def __init__(
        self, title: str, fields: Sequence[Field], draft: Values, keep: Callable[[Values], None]
    ) -> None:
        super().__init__()
        self._title, self._fields, self._draft, self._keep = title, fields, draft, keep

    def compose(self) -> ComposeResult:
        """Labels above inputs."""
        with Vertical():
            yield Static(plain(self._title, 200), classes="title", markup=False)
            with VerticalScroll(can_focus=False):
                for field in self._fields:
                    yield Static(self._label(field), classes="label", markup=False)
                    yield self._widget(field)
            yield Button("Done (ctrl+s)", id="send", variant="primary", compact=True)

    def on_mount(self) -> None:
        """The first field takes the keys at once: what is typed early is not lost."""
        self.query_one(f"#field-{self._fields[0].name}").focus()

    def _label(self, field: Field) -> str:
        hint = f"  {field.hint}" if field.hint else ""
        return plain(f"{field.label}{hint}", 400)

    def _widget(self, field: Field) -> Input | TextArea:
        value = self._draft.get(field.name, field.value)
        if field.is_long:
            return TextArea(value, id=f"field-{field.name}", tab_behavior="focus", compact=True)
        return Input(value, id=f"field-{field.name}", select_on_focus=False, compact=True)

    def values(self) -> Values:
        """What is typed now."""
        found = {}
        for field in self._fields:
            widget = self.query_one(f"#field-{field.name}")
            found[field.name] = widget.text if isinstance(widget, TextArea) else str(_value(widget))
        return found

    def on_input_submitted(self) -> None:
        """Enter goes on; on the last field it is done."""
        last = self.query_one(f"#field-{self._fields[-1].name}")
        if self.focused is last:
            self.action_send()
        else:
            self.focus_next()

    def on_button_pressed(self) -> None:
        """The same as ctrl+s."""
        self.action_send()

    def action_send(self) -> None:
        """Hand over what was typed; it is kept as well, until it was of use."""
        self._keep(self.values())
        self.dismiss(self.values())

    def action_leave(self) -> None:
        """Close, and keep what was typed."""
        self._keep(self.values())
        self.dismiss(None)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is text for the field that has the focus, never a command."""
        event.stop()


def _value(widget: object) -> str:
    assert isinstance(widget, Input)
    return widget.value
