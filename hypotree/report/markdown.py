"""A session as Markdown: fits a pull request or an issue."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

from hypotree.artifact.plain import plain
from hypotree.model.evidence import Evidence, Locator, Table
from hypotree.model.refusal import Refusal
from hypotree.session.snapshot import NodeView, SessionView, WriteView

#: What can start or end markup inside a line; each is inert behind a backslash.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
#: An @ that begins a word calls somebody on code hosts, backslash or not.
_MENTION = re.compile(r"(?<!\w)@")


def to_markdown(view: SessionView) -> str:
    """The whole report; every foreign text in it is escaped."""
    return "\n".join(_lines(view)) + "\n"


def text(value: str, limit: int = 2000) -> str:
    """Foreign text as Markdown text: control characters visible, markup inert."""
    return _MENTION.sub("&#64;", _SPECIAL.sub(r"\\\1", plain(value, limit)))


def code(value: str) -> str:
    """Foreign text as an inline code span that it cannot end."""
    inner = plain(value, 400)
    fence = "`" * (max((len(run) for run in re.findall(r"`+", inner)), default=0) + 1)
    pad = " " if inner.startswith("`") or inner.endswith("`") else ""
    return f"{fence}{pad}{inner}{pad}{fence}" if inner else "` `"


def _lines(view: SessionView) -> Iterator[str]:
    yield f"# {text(view.symptom)}"
    yield ""
    yield from _bottom_line(view)
    yield from _symptom(view)
    yield from _tree(view)
    for node in view.nodes:
        yield from _node(view, node)
    yield from _writes(view.writes)
    yield from _artifacts(view)
    yield from _footer(view)


def _bottom_line(view: SessionView) -> Iterator[str]:
    by_standing: dict[str, list[str]] = {}
    for node in view.nodes:
        by_standing.setdefault(node.standing, []).append(node.id)
    counts = "; ".join(f"{standing}: {', '.join(ids)}" for standing, ids in by_standing.items())
    yield f"**{text(counts) or 'no hypothesis yet'}**"
    if view.next:
        yield f"\nNext: {text(view.next)}"
    yield ""


def _symptom(view: SessionView) -> Iterator[str]:
    yield "## Symptom"
    yield ""
    if not view.measurements:
        yield "Not measured yet."
    else:
        yield from _table(
            ("when (UTC)", "probe", "accept length", "what it says", "new?"),
            (
                (
                    m.time[:19], m.probe, _number(m.measures.get("accept_length")), m.summary,
                    "yes" if m.is_new else "no: same observations as before",
                )
                for m in view.measurements
            ),
        )  # fmt: skip
    yield ""


def _tree(view: SessionView) -> Iterator[str]:
    yield "## Tree"
    yield ""
    for node in view.nodes:
        pad = "  " * node.depth
        yield f"{pad}- **{text(node.id)}** {text(node.hypothesis.claim)}: *{text(node.standing)}*"
    yield ""


def _node(view: SessionView, node: NodeView) -> Iterator[str]:
    yield f"## {text(node.id)}: {text(node.hypothesis.claim)}"
    yield ""
    yield f"- standing: **{text(node.standing)}**"
    yield f"- fault: {code(node.hypothesis.fault)}, fix: {code(node.fix)}"
    if node.hypothesis.rivals:
        yield f"- rivals: {text(', '.join(node.hypothesis.rivals))}"
    yield f"- run it again: {code(_command(view, node))}"
    if node.changed:
        yield f"- changed since: {text(', '.join(node.changed))}"
    yield ""
    if len(node.history) > 1:
        yield from _table(
            ("event", "when (UTC)", "verdict", "authority", "why"),
            ((str(r.seq), r.time[:19], r.verdict, r.authority, r.why) for r in node.history),
        )
        yield ""
    if node.evidence is not None:
        yield from _evidence(node.evidence, node.hypothesis.fault, node.evidence_seq)
    for refusal in node.refusals:
        yield from _refusal(node, refusal)
    for note in node.notes:
        yield f"> {text(note)}"
        yield ""


def _command(view: SessionView, node: NodeView) -> str:
    return f"hypotree probe run --session {shlex.quote(view.folder)} {shlex.quote(node.id)}"


def _evidence(evidence: Evidence, fault: str, seq: int) -> Iterator[str]:
    own = evidence.finding(fault)
    if own is not None:
        yield f"**{own.verdict}** by {own.authority}: {text(own.why)}"
        for locator in own.locators:
            yield f"- at {code(_where(locator))}"
        yield ""
    yield "<details><summary>evidence</summary>"
    yield ""
    yield (
        f"Probe {code(evidence.probe)} version {text(evidence.version)}, code "
        f"{code(str(evidence.code_sha256))}, {evidence.seconds:.3f} s, journal event {seq}. "
        f"{text(evidence.summary)}"
    )
    yield ""
    yield from _table(
        ("input", "role", "path", "sha256 of what was read"),
        ((i.name, i.role, i.path, i.sha256.hex) for i in evidence.inputs),
    )
    yield ""
    yield from _table(
        ("fault", "verdict", "authority", "why"),
        ((f.fault, f.verdict, f.authority, f.why) for f in evidence.findings),
    )
    yield ""
    for rows in evidence.tables:
        yield from _rows(rows)
    yield "</details>"
    yield ""


def _rows(rows: Table) -> Iterator[str]:
    yield f"*{text(rows.title)}*"
    yield ""
    yield from _table(rows.columns, (["-" if c is None else str(c) for c in r] for r in rows.rows))
    yield ""


def _refusal(node: NodeView, refusal: Refusal) -> Iterator[str]:
    yield f"- fix {code(node.fix)} refused, **{refusal.code}**: {text(refusal.found)}"
    yield f"  - next: {text(refusal.next)}"
    if refusal.also:
        yield f"  - also: {text(', '.join(refusal.also))}"
    yield ""


def _writes(writes: tuple[WriteView, ...]) -> Iterator[str]:
    yield "## Writes"
    yield ""
    if not writes:
        yield "Nothing was written."
        yield ""
    for write in writes:
        what = f"undo of {write.undoes}" if write.undoes else f"fix {write.fix}"
        state = f"undone by {write.undone_by}" if write.undone_by else "in force"
        yield f"- **{text(write.id)}** {text(what)} for {text(write.node)}, by {text(write.actor)}, {state}"
        for file in write.files:
            yield f"  - {code(file.path)}: {file.size_before} to {file.size_after} bytes"
            before = {(r.kind, r.name): r.sha256 for r in file.before}
            for read in file.after:
                old = before.get((read.kind, read.name))
                yield (
                    f"    - {text(read.kind)} {code(read.name)}: "
                    f"{code(old.short if old else 'not there')} to {code(read.sha256.short)}"
                )
            yield f"    - undo pack {code(file.pack.short)}"
    yield ""


def _artifacts(view: SessionView) -> Iterator[str]:
    yield "## Artifacts"
    yield ""
    yield from _table(
        ("name", "role", "path", "declared by"),
        (
            (a.name, a.artifact.role, a.artifact.path, f"proposed by {a.proposed_by}" if a.proposed_by
             else "a person")
            for a in view.artifacts
        ),
    )  # fmt: skip
    yield ""


def _footer(view: SessionView) -> Iterator[str]:
    yield "---"
    yield ""
    problem = (
        f" **The journal does not verify: {text(view.journal_problem)}.**"
        if (view.journal_problem)
        else ""
    )
    yield (
        f"From {view.journal_events} journal events, head {code(view.journal_head)}.{problem} "
        f"Check it: {code(f'hypotree journal verify {shlex.quote(view.folder)}')}"
    )


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(columns)
    yield "| " + " | ".join(text(name) for name in names) + " |"
    yield "|" + " --- |" * len(names)
    for row in rows:
        yield "| " + " | ".join(text(str(cell)) for cell in row) + " |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _where(locator: Locator) -> str:
    parts = [locator.input, locator.file, locator.tensor, locator.field]
    parts += [f"element {locator.element}"] if locator.element is not None else []
    parts += [f"line {locator.line}"] if locator.line is not None else []
    return ", ".join(part for part in parts if part)
