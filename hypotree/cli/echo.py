"""All that is printed: stdout is data, stderr is talk."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TextIO

from hypotree.artifact.plain import plain
from hypotree.errors import HypotreeError
from hypotree.model.wire import readable_json

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "dim": 2, "bold": 1}


def out(text: str = "") -> None:
    """One line of data; the caller has made every foreign part of it plain."""
    print(text, file=sys.stdout)


def out_json(value: object) -> None:
    """A value as JSON on stdout."""
    print(readable_json(value), file=sys.stdout)


def talk(text: str) -> None:
    """One line for people on stderr."""
    print(text, file=sys.stderr)


def report_error(error: HypotreeError) -> None:
    """An error in its three parts."""
    talk(f"hypotree: {plain(error.asked, 300)}")
    talk(f"  found: {plain(error.found, 1200)}")
    if error.next_step:
        talk(f"  next:  {plain(error.next_step, 500)}")


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """`text` in a colour where the stream is a terminal that wants one."""
    target = stream or sys.stdout
    if os.environ.get("NO_COLOR") or not target.isatty():
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def wrapped(text: str, indent: int) -> str:
    """Foreign text made plain and wrapped to the terminal, all lines but the first indented."""
    width = max(shutil.get_terminal_size((100, 24)).columns, 60) - indent
    lines = textwrap.wrap(plain(text, 2000), width, break_on_hyphens=False) or [""]
    return f"\n{' ' * indent}".join(lines)


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]], indent: int = 2) -> list[str]:
    """Columns of plain cells; those of numbers are right-aligned."""
    cells = [columns, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    numeric = [all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    lines = []
    for row in cells:
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        lines.append(" " * indent + "  ".join(padded).rstrip())
    return lines


def _is_number(cell: str) -> bool:
    return cell in {"", "-"} or cell.lstrip("-").replace(".", "", 1).isdigit()
