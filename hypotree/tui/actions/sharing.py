"""Export the report, copy a command, open a file, inspect a checkpoint."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from hypotree.atomic import write_file
from hypotree.errors import MisuseError
from hypotree.report.markdown import to_markdown
from hypotree.tui.memory import state_home
from hypotree.tui.outside import (
    copy,
    editor_command,
    free_name,
    is_text,
    same_on_the_command_line,
)
from hypotree.tui.screens.form import Field, Values

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


def export(bench: Bench) -> None:
    """Write the report into a file that is not there yet."""
    name = free_name(bench.desk.folder, "report", ".md")
    fields = [Field("path", "file", str(name), "an existing file is not written over")]
    bench.form("export", "Export the report (Markdown)", fields, partial(_export, bench))


def _export(bench: Bench, values: Values) -> None:
    path = Path(values["path"].strip()).expanduser()

    def work() -> int:
        if path.exists():
            raise MisuseError(f"writing {path}", "there is such a file", "choose another name")
        document = bench.desk.do(lambda session: to_markdown(session.snapshot())).encode()
        write_file(path, document)
        return len(document)

    def exported(size: int) -> None:
        bench.drafts.pop("export", None)
        bench.tell(f"report of {size} bytes written to {path}")

    bench.work(work, exported)


def copy_command(bench: Bench) -> None:
    """Copy the command that shows the same; say whether it arrived."""
    focus = bench.focused.id if bench.focused else ""
    text = same_on_the_command_line(bench.desk.folder, bench.node, bench.tab, focus or "")

    def arrived(copied: object) -> None:
        bench.tell(f"{text}\n{getattr(copied, 'said', '')}", timeout=8)

    bench.work(lambda: copy(text, bench.write_to_terminal, state_home(), os.environ), arrived)


def open_place(bench: Bench) -> None:
    """Open the place under the cursor; tensors open in the inspector."""
    place = bench.place()
    if place is None:
        bench.tell("the cursor is on no file: go to a line with a place", "warning")
        return
    if Path(place.path).is_dir() or not is_text(place.path):
        inspect_path(bench, place.path)
        return
    command = editor_command(place, os.environ)
    if not command:
        bench.tell(f"no editor: set EDITOR. The file is {place.path}, line {place.line}", "warning")
        return
    try:
        with bench.app.suspend():
            subprocess.run(command, check=False)
    except SuspendNotSupported:
        bench.tell(f"this terminal cannot be lent to {command[0]}", "warning")
    except OSError as error:
        bench.tell(f"{command[0]}: {error.strerror}", "error")
    bench.look()


def inspect(bench: Bench) -> None:
    """Browse the checkpoint that this node binds."""
    board, hypothesis = bench.board, bench.hypothesis()
    if board is None:
        return
    bound = [b.artifact for b in hypothesis.inputs.values()] if hypothesis else []
    found = {a.name: a for a in board.view.artifacts}
    names = [n for n in bound if n in found] or list(found)
    for name in names:
        path = bench.desk.path_of(found[name].artifact)
        if Path(path).is_dir() or path.endswith(".safetensors"):
            inspect_path(bench, path)
            return
    bench.tell("this node binds no checkpoint", "warning")


def inspect_path(bench: Bench, path: str) -> None:
    """Open the inspector over the screen."""
    from hypotree.tui.screens.inspector import Inspector

    bench.app.push_screen(Inspector(path))
