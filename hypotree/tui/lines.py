"""Lines of text with roles instead of colours: what is data stays data on its way to any screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hypotree.artifact.plain import plain

#: What a piece of text is for; a theme, or none, turns it into a look.
Role = Literal["", "strong", "dim", "good", "warn", "bad", "accent", "head"]


class Span(NamedTuple):
    """A piece of a line; its text was made plain when it was made."""

    text: str
    role: Role = ""


@dataclass(frozen=True)
class Place:
    """A file, and the line in it, that a line on the screen speaks of."""

    path: str
    line: int = 1


@dataclass(frozen=True)
class Line:
    """One logical line; when it is wrapped, its further rows start at `indent`."""

    spans: tuple[Span, ...] = ()
    indent: int = 0
    place: Place | None = None
    """Where $EDITOR would open."""
    key: str = ""
    """What the line stands for, where it can be chosen: a tensor, an artifact."""

    @property
    def text(self) -> str:
        """The line without its roles."""
        return "".join(span.text for span in self.spans)


BLANK = Line()


def said(text: object, role: Role = "", limit: int = 2000) -> Span:
    """Any text as a span: control characters, escapes and hidden marks become visible."""
    return Span(plain(str(text), limit), role)


def line(*parts: Span | str, indent: int = 0, place: Place | None = None, key: str = "") -> Line:
    """A line of spans; bare strings are made plain, too."""
    spans = tuple(part if isinstance(part, Span) else said(part) for part in parts)
    return Line(spans, indent, place, key)


def heading(text: str) -> Line:
    """A line that begins a section."""
    return line(said(text, "head"))


def columns(
    names: Sequence[str], rows: Iterable[Sequence[object]], indent: int = 2, widest: int = 60
) -> list[Line]:
    """A table of plain cells; columns of numbers are set to the right."""
    cells = [[plain(_cell(value), widest) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(names), *cells]) for i in range(len(names))]
    right = [bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(names))]
    pad = " " * indent
    return [
        line(said(pad + _joined(row, widths, right), role)) for row, role in _headed(names, cells)
    ]


def _headed(names: Sequence[str], cells: list[list[str]]) -> list[tuple[Sequence[str], Role]]:
    return [(names, "dim"), *((row, "") for row in cells)]


def _joined(row: Sequence[str], widths: list[int], right: list[bool]) -> str:
    parts = [
        cell.rjust(width) if is_right else cell.ljust(width)
        for cell, width, is_right in zip(row, widths, right, strict=True)
    ]
    return "  ".join(parts).rstrip()


def _cell(value: object) -> str:
    return "-" if value is None else str(value)


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.lstrip("-").replace(".", "", 1).replace("e", "", 1).isdigit()
