"""Journal lines and notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from hypotree.model import event as ev
from hypotree.model.declaration import SYMPTOM
from hypotree.tui.content.evidence import node_head
from hypotree.tui.lines import BLANK, Line, Role, line, said

if TYPE_CHECKING:
    from hypotree.session.snapshot import NodeView

_ROLES: Final[dict[type, Role]] = {
    ev.FixApplied: "good",
    ev.SwapUndone: "warn",
    ev.FixRefused: "bad",
    ev.SwapAbandoned: "warn",
    ev.ArtifactApproved: "accent",
    ev.FixApproved: "accent",
}


def record_line(record: ev.Record) -> Line:
    """One event: its number, time, who did it, what, to which node."""
    event = record.event
    tag = str(event.__struct_config__.tag)
    return line(
        said(f"{record.seq:>6} ", "dim"),
        said(f"{record.time[5:19].replace('T', ' ')} ", "dim"),
        said(f"{who(record.actor):<10.20} ", "accent" if record.actor.is_agent else ""),
        said(f"{tag:<17} ", _ROLES.get(type(event), "strong")),
        said(f"{subject(record)} ", "strong", 80),
        said(_detail(event), "", 300),
        key=subject(record),
    )


def who(actor: ev.Actor) -> str:
    """The actor in one or two words."""
    return " ".join(part for part in (actor.kind, actor.name) if part)


def subject(record: ev.Record) -> str:
    """The node, artifact or swap that the event is about."""
    event = record.event
    return str(getattr(event, "node", getattr(event, "id", getattr(event, "name", ""))))


def _detail(event: ev.Event) -> str:
    match event:
        case ev.EvidenceSealed():
            return f"{event.evidence.probe}: {event.evidence.summary}"
        case ev.HypothesisAdded() | ev.HypothesisEdited():
            return event.hypothesis.claim
        case ev.FixRefused():
            return f"{event.fix}: {event.refusal.code}"
        case ev.FixApplied() | ev.FixPlanned():
            return event.fix
        case ev.ArtifactAttached():
            return f"{event.artifact.role} {event.artifact.path}"
        case ev.SwapUndone():
            return f"undoes {event.undoes}"
        case ev.SwapAbandoned():
            return event.why
        case ev.CanaryRan():
            return f"{event.probe}: {', '.join(event.faults) or 'none shown'}"
        case ev.NoteAdded():
            return event.text
        case _:
            return ""


def notes_lines(view: NodeView, records: Sequence[ev.Record]) -> Iterator[Line]:
    """Notes on a node with who wrote them."""
    yield from node_head(view)
    yield BLANK
    yield from _notes(view.id, records)


def symptom_notes(records: Sequence[ev.Record]) -> Iterator[Line]:
    """Notes on the symptom."""
    yield from _notes(SYMPTOM, records)


def _notes(node: str, records: Sequence[ev.Record]) -> Iterator[Line]:
    found = [r for r in records if isinstance(r.event, ev.NoteAdded) and r.event.node == node]
    if not found:
        yield line(said("No notes: i adds one.", "dim"))
    for record in found:
        head = said(f"{record.time[:19]} {who(record.actor)}: ", "dim")
        yield line(head, said(getattr(record.event, "text", ""), "", 4000), indent=4)
