"""hypotree show: a session's tree."""

from __future__ import annotations

from functools import partial

import click

from hypotree.artifact.plain import plain
from hypotree.cli.echo import out, out_json, paint, talk, wrapped
from hypotree.cli.options import actor, json_option, session_folder, session_options
from hypotree.session import Session
from hypotree.session.snapshot import NodeView, SessionView
from hypotree.tree.standing import Standing

_GLYPHS = {
    Standing.CONFIRMED: ("!", "red"), Standing.SUSPECTED: ("?", "yellow"),
    Standing.REFUTED: ("x", "green"), Standing.UNTESTED: (".", "dim"),
    Standing.STALE: ("~", "yellow"), Standing.FIXED_MOVED: ("+", "green"),
    Standing.FIXED_UNMOVED: ("=", "yellow"), Standing.FIXED_NOT_MEASURED: ("=", "yellow"),
    Standing.FIXED_WORSE: ("-", "red"),
}  # fmt: skip


@click.command()
@session_options
@click.option("--tree", "everything", is_flag=True, help="All that the terminal UI shows, as text.")
@click.option("--watch", is_flag=True, help="Print again whenever anything changes, until stopped.")
@json_option
def show(
    session_option: str | None,
    session_argument: str | None,
    everything: bool,
    watch: bool,
    as_json: bool,
) -> int:
    """Show the symptom, the tree, where each hypothesis stands, and what to do next."""
    folder = session_folder(session_option, session_argument)
    session = Session(folder, actor())
    for sentence in session.recovered:
        talk(f"hypotree: {plain(sentence, 400)}")
    show_once = partial(_show_once, session, everything=everything and not as_json, as_json=as_json)
    show_once()
    if watch:
        from hypotree.cli.session_text import watch_session

        watch_session(session, show_once, as_json=as_json)
    return 0


def _show_once(session: Session, *, everything: bool, as_json: bool) -> None:
    if everything:
        from hypotree.cli.session_text import print_everything

        print_everything(session.folder, actor())
    else:
        _print_view(session, as_json=as_json)


def _print_view(session: Session, *, as_json: bool) -> None:
    view = session.snapshot()
    if as_json:
        out_json(view)
    else:
        print_session(view)


def print_session(view: SessionView) -> None:
    """The whole session on one screen."""
    out(paint(f"symptom: {wrapped(view.symptom, 9)}", "bold"))
    for measured in view.measurements:
        again = (
            "" if measured.is_new else "  (the same observations as before: not a new measurement)"
        )
        out(
            f"  {measured.time[:19]}  {plain(measured.probe)}: {wrapped(measured.summary + again, 22)}"
        )
    out()
    for node in view.nodes:
        print_node(node)
    for write in view.writes:
        state = f"undone by {write.undone_by}" if write.undone_by else "in force"
        what = f"undo of {write.undoes}" if write.undoes else plain(write.fix)
        out(f"  write {write.id}: {what} for {plain(write.node)}, {state}, {write.time[:19]}")
    proposed = [a for a in view.artifacts if a.proposed_by]
    for artifact in proposed:
        out(f"  artifact {plain(artifact.name)} is only proposed (by {artifact.proposed_by})")
    if view.pending_policy:
        out("  session.yaml asks for a looser policy: hypotree approve --session … policy")
    if view.journal_problem:
        out(paint(f"journal: {wrapped(view.journal_problem, 9)}", "red"))
    if view.next:
        out(f"\nnext: {wrapped(view.next, 6)}")


def print_node(node: NodeView) -> None:
    """A hypothesis: glyph, id, claim; then its standing and why."""
    glyph, colour = _GLYPHS.get(Standing(node.standing), ("o", "yellow"))
    pad = "  " * (node.depth + 1)
    indent = len(pad) + 2
    head = f"{plain(node.id)}  {plain(node.hypothesis.claim, 400)}"
    out(f"{pad}{paint(glyph, colour)} {wrapped(head, indent)}")
    body = " " * indent
    detail = f"{node.standing} ({node.hypothesis.fault}, {node.hypothesis.probe})"
    out(f"{body}{paint(detail, colour)}")
    if node.why:
        out(f"{body}{wrapped(node.why, indent)}")
    if node.changed:
        out(f"{body}changed since: {wrapped(', '.join(node.changed), indent)}")
    for refusal in node.refusals:
        text = f"{node.fix} refused, {refusal.code}: {refusal.found}"
        out(f"{body}{wrapped(text, indent)}")
    for note in node.notes:
        out(f"{body}note: {wrapped(note, indent)}")
