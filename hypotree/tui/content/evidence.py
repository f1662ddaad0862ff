"""The Evidence tab: findings with their places, tables, digests of what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hypotree.model.verdict import Verdict
from hypotree.tui.content.look import sign, verdict, word
from hypotree.tui.lines import BLANK, Line, Place, Role, columns, heading, line, said

if TYPE_CHECKING:
    from hypotree.model.evidence import Evidence, Finding, InputRecord, Locator, Table
    from hypotree.session.snapshot import Measurement, NodeView

_ORDER = list(Verdict)


def node_head(view: NodeView) -> Iterator[Line]:
    """What the node says and where it stands; every tab begins with it."""
    hypothesis = view.hypothesis
    yield line(said(f"{view.id}  ", "strong"), said(hypothesis.claim, "strong", 4000), indent=4)
    yield line(sign(view.standing), " ", word(view.standing), said(f"  {hypothesis.fault}", "dim"))
    if view.changed:
        yield line(said("changed since: ", "warn"), said(", ".join(view.changed)), indent=2)


def evidence_lines(view: NodeView) -> Iterator[Line]:
    """All of a node's newest evidence, then its earlier runs."""
    yield from node_head(view)
    hypothesis = view.hypothesis
    bound = ", ".join(f"{name}={b.artifact}" for name, b in hypothesis.inputs.items())
    yield line(said("probe: ", "dim"), said(hypothesis.probe), said(f"  ({bound})", "dim"))
    if hypothesis.rivals:
        yield line(said("rivals: ", "dim"), said(", ".join(hypothesis.rivals)))
    yield BLANK
    if view.evidence is None:
        yield line(said("Not tested yet: r runs its probe.", "dim"))
        return
    yield from one_run(view.evidence)
    if len(view.history) > 1:
        yield BLANK
        yield heading("Runs")
        rows = [(r.seq, r.time[:19], r.verdict, r.authority, r.why) for r in view.history]
        yield from columns(("event", "when (UTC)", "verdict", "authority", "why"), rows)


def symptom_lines(measurements: tuple[Measurement, ...], what: str) -> Iterator[Line]:
    """The symptom's own page: each time it was measured."""
    yield line(said(what, "strong", 4000))
    yield BLANK
    if not measurements:
        yield line(said("Not measured yet: S measures it.", "dim"))
    for m in measurements:
        again = "" if m.is_new else "  (the same observations as before: not a new measurement)"
        yield line(
            said(f"{m.time[:19]}  ", "dim"), said(m.probe, "accent"), said(f"  {m.summary}"),
            said(again, "warn"), indent=4,
        )  # fmt: skip
        numbers = ", ".join(f"{name} {value:g}" for name, value in m.measures.items())
        if numbers:
            yield line(said(f"    {numbers}", "dim"), indent=4)


def one_run(evidence: Evidence) -> Iterator[Line]:
    """One run of one probe: findings, then tables, then what it rests on."""
    files = {record.name: record for record in evidence.inputs}
    yield line(said(evidence.summary or "(no summary)"), indent=2)
    for found in sorted(evidence.findings, key=lambda f: _ORDER.index(f.verdict)):
        yield from _finding(found, lambda at: place_of(files, at))
    for table in evidence.tables:
        yield BLANK
        yield from _table(table)
    yield BLANK
    yield heading("What it rests on")
    yield line(
        said(f"{evidence.probe} version {evidence.version}, code {evidence.code_sha256.short}…, "),
        said(f"{evidence.seconds:.2f} s"), indent=2,
    )  # fmt: skip
    for record in evidence.inputs:
        yield from _input(record)


def _finding(found: Finding, where: Callable[[Locator], Place | None]) -> Iterator[Line]:
    guess = found.verdict is Verdict.CONFIRMED and not found.truth
    by = f"  ({found.authority}{': ' + ', '.join(found.truth) if found.truth else ''})"
    role: Role = "warn" if guess and found.authority == "heuristic" else "dim"
    yield line(verdict(found.verdict), said(f" {found.fault}", "strong"), said(by, role), indent=14)
    yield line(said(" " * 14), said(found.why), indent=14)
    for locator in found.locators:
        at = where(locator)
        yield line(
            said(" " * 14 + "at ", "dim"),
            said(locator_text(locator), "accent"),
            indent=17,
            place=at,
        )


def locator_text(locator: Locator) -> str:
    """Every part of a locator that applies, in words."""
    parts = [locator.input, locator.file, locator.tensor, locator.field]
    parts += [f"element {locator.element}"] if locator.element is not None else []
    parts += [f"line {locator.line}"] if locator.line is not None else []
    return ", ".join(part for part in parts if part)


def place_of(files: dict[str, InputRecord], locator: Locator) -> Place | None:
    """The file that a locator leads to on this machine, if that can be told."""
    record = files.get(locator.input)
    if record is None:
        return None
    path = Path(record.path)
    if locator.file and locator.file != path.name:
        path /= locator.file
    return Place(str(path), locator.line or 1)


def _table(table: Table) -> Iterator[Line]:
    yield heading(table.title)
    yield from columns(table.columns, table.rows)


def _input(record: InputRecord) -> Iterator[Line]:
    form = f", {record.form}" if record.form else ""
    yield line(
        said(f"  {record.name:<10} ", "strong"), said(f"{record.role}, {record.kind}{form}: "),
        said(record.path), indent=13, place=Place(record.path),
    )  # fmt: skip
    for read in record.read:
        yield line(said(f"{'':<13}{read.kind} {read.name} {read.sha256.short}…", "dim"), indent=15)
