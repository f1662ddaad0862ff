"""hypotree journal show | verify."""

from __future__ import annotations

import click

from hypotree.artifact.plain import plain
from hypotree.cli.echo import out, out_json
from hypotree.cli.options import json_option, session_folder, session_options
from hypotree.errors import EXIT_FAULT, EXIT_OK
from hypotree.journal.store import Journal
from hypotree.model.event import EvidenceSealed, Record
from hypotree.session.core import JOURNAL_NAME


@click.group()
def journal() -> None:
    """Show or verify a session's journal."""


@journal.command("show")
@session_options
@json_option
def show_journal(session_option: str | None, session_argument: str | None, as_json: bool) -> int:
    """Every event, one line each."""
    records = _open(session_option, session_argument).records
    if as_json:
        out_json(list(records))
        return EXIT_OK
    for record in records:
        who = " ".join(part for part in (record.actor.kind, record.actor.name) if part)
        out(f"{record.seq:>5}  {record.time[:19]}  {plain(who):<10}  {_what(record)}")
    return EXIT_OK


@journal.command("verify")
@session_options
@json_option
def verify_journal(session_option: str | None, session_argument: str | None, as_json: bool) -> int:
    """Check every line against the chain; exit 1 names the first bad one."""
    found = _open(session_option, session_argument).verify()
    if as_json:
        out_json({"state": found.state, "events": len(found.records), "line": found.line,
                  "why": found.why, "head": found.head})  # fmt: skip
    elif found.state == "broken":
        out(f"BROKEN at line {found.line}: {plain(found.why, 400)}")
        out(f"the {len(found.records)} events before it are whole")
    elif found.state == "torn":
        out(f"torn tail: {found.why}; the {len(found.records)} events before it are whole")
    else:
        out(f"whole: {len(found.records)} events, head {found.head}")
    return EXIT_FAULT if found.state == "broken" else EXIT_OK


def _open(option: str | None, argument: str | None) -> Journal:
    return Journal(session_folder(option, argument) / JOURNAL_NAME)


def _what(record: Record) -> str:
    event = record.event
    kind = event.__struct_config__.tag
    node = getattr(event, "node", getattr(event, "id", getattr(event, "name", "")))
    detail = event.evidence.summary if isinstance(event, EvidenceSealed) else ""
    return plain(f"{kind}  {node}  {detail}".rstrip(), 200)
