"""Wrap a line of spans to a width in cells; further rows hang under the line's indent."""

from __future__ import annotations

from rich.cells import cell_len

from hypotree.tui.lines import Line, Span


def wrap(line: Line, width: int) -> list[Line]:
    """The rows of one line. What fits is returned as it is, which is nearly always so."""
    text = line.text
    if cell_len(text) <= width:
        return [line]
    indent = min(line.indent, max(width - 8, 0))
    rows: list[Line] = []
    start = 0
    while start < len(text):
        room = max(width - (indent if rows else 0), 1)
        end = _end_of_row(text, start, room)
        spans = _between(line.spans, start, end)
        pad = (Span(" " * indent),) if rows and indent else ()
        rows.append(Line(pad + spans, line.indent, line.place, line.key))
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
    return rows


def _end_of_row(text: str, start: int, room: int) -> int:
    """Where a row that begins at `start` ends: after a word if one ends, else wherever it is full."""
    at, used, space = start, 0, 0
    while at < len(text):
        used += cell_len(text[at])
        if used > room:
            break
        at += 1
        if at < len(text) and text[at] == " ":
            space = at
    if at == len(text):
        return at
    if text[at] == " ":
        return at
    has_word = space > start and text[start:space].strip()
    return space if has_word else max(at, start + 1)


def _between(spans: tuple[Span, ...], start: int, end: int) -> tuple[Span, ...]:
    found, at = [], 0
    for span in spans:
        piece = span.text[max(start - at, 0) : max(end - at, 0)]
        if piece:
            found.append(Span(piece, span.role))
        at += len(span.text)
    return tuple(found)
