"""The Artifacts tab and the Trace tab."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hypotree.errors import HypotreeError
from hypotree.tui.lines import BLANK, Line, Place, Role, columns, heading, line, said

if TYPE_CHECKING:
    from hypotree.artifact.trace import TraceRecord
    from hypotree.model.declaration import Hypothesis
    from hypotree.session.snapshot import ArtifactView, NodeView


@dataclass(frozen=True)
class OnDisk:
    """One artifact as it is on this machine now."""

    view: ArtifactView
    path: str
    kind: str
    size: int
    """-1 if it is not there; an engine named by its release has no files."""


def on_disk(view: ArtifactView, path: str) -> OnDisk:
    """Look at an artifact's size; of a folder, that of the files directly in it."""
    here = Path(path)
    if not here.exists():
        return OnDisk(view, path, view.artifact.kind, -1)
    return OnDisk(view, path, view.artifact.kind, _size(here))


def _size(path: Path) -> int:
    try:
        if path.is_file():
            return path.stat().st_size
        with os.scandir(path) as entries:
            return sum(e.stat().st_size for e in entries if e.is_file())
    except OSError:
        return -1


def artifact_lines(found: Iterable[OnDisk], view: NodeView | None) -> Iterator[Line]:
    """Every artifact of the session: those that the node binds first, with what was read of them."""
    mine = {b.artifact: name for name, b in view.hypothesis.inputs.items()} if view else {}
    yield heading("Artifacts")
    for one in sorted(found, key=lambda o: (o.view.name not in mine, o.view.name)):
        yield from _artifact(one, mine.get(one.view.name, ""), view)


def _artifact(one: OnDisk, bound_as: str, view: NodeView | None) -> Iterator[Line]:
    said_of = one.view.artifact
    role: Role = "strong" if bound_as else ""
    size = "no such file" if one.size < 0 else f"{one.size:,} bytes"
    yield line(
        said(f"{one.view.name} ", role), said(f"{said_of.role}", "accent"),
        said(f" {one.kind} {said_of.form}".rstrip()), said(f"  {size}", "dim"),
        indent=4, place=Place(one.path), key=one.view.name,
    )  # fmt: skip
    yield line(said(f"    {one.path}", "dim"), indent=4, place=Place(one.path), key=one.view.name)
    if one.view.proposed_by:
        yield line(said(f"    only proposed, by {one.view.proposed_by} (P approves)", "warn"))
    record = view.evidence.input(bound_as) if view and view.evidence and bound_as else None
    if record is not None:
        yield line(said(f"    read as {bound_as}: {record.sha256.short}…", "dim"))
        prefix = f"{bound_as}: "
        changed = (
            [c.removeprefix(prefix) for c in view.changed if c.startswith(prefix)] if view else []
        )
        if changed:
            yield line(said(f"    changed since: {', '.join(changed)}", "warn"), indent=4)


def traces_of(hypothesis: Hypothesis | None, artifacts: Iterable[OnDisk]) -> list[OnDisk]:
    """The traces that a node binds, or all of the session's if it binds none."""
    found = [a for a in artifacts if a.kind == "trace"]
    bound = {b.artifact for b in hypothesis.inputs.values()} if hypothesis else set()
    mine = [a for a in found if a.view.name in bound]
    return mine or found


def trace_lines(traces: Iterable[OnDisk]) -> Iterator[Line]:
    """Which modules ran on which shapes; nothing is concluded from it here."""
    none = True
    for one in traces:
        none = False
        yield line(
            said(f"{one.view.name}  ", "strong"), said(one.path, "dim"), place=Place(one.path)
        )
        try:
            record = _record(one.path)
        except (HypotreeError, OSError) as error:
            yield line(said(str(error), "warn"), indent=2)
            continue
        yield from _trace(record)
    if none:
        yield line(said("No trace is attached (t attaches one).", "dim"))


def _record(path: str) -> TraceRecord:
    from hypotree.artifact.trace import Trace

    return Trace(path).record()


def _trace(record: TraceRecord) -> Iterator[Line]:
    start = record.start
    yield line(said(f"{start.engine} {start.engine_version}, {len(record.calls)} calls, "),
               said(record.state, "good" if record.state == "complete" else "warn"))  # fmt: skip
    yield BLANK
    yield from columns(("module", "calls", "first in", "first out", "phases"), _modules(record))


def _modules(record: TraceRecord) -> Iterator[tuple[object, ...]]:
    calls: dict[str, list[int]] = {module: [] for module in record.start.hooks}
    for index, call in enumerate(record.calls):
        calls.setdefault(call.module, []).append(index)
    for module, fired in calls.items():
        if not fired:
            yield module, 0, "hooked, never ran", "", ""
            continue
        first = record.calls[fired[0]]
        phases = ", ".join(dict.fromkeys(record.calls[i].phase for i in fired))
        yield module, len(fired), _shapes(first.in_shapes), _shapes(first.out_shapes), phases


def _shapes(shapes: tuple[tuple[int, ...], ...]) -> str:
    return " ".join(str(list(shape)) for shape in shapes)
