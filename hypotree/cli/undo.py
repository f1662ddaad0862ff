"""hypotree undo, hypotree redo."""

from __future__ import annotations

import click

from hypotree.artifact.plain import plain
from hypotree.cli.echo import out
from hypotree.cli.options import actor, session_folder
from hypotree.session import Session

_session = click.option("--session", "folder", required=True, metavar="DIR", help="The session.")


@click.command()
@_session
@click.argument("swap_id", metavar="[ID]", required=False, default="")
@click.option("--list", "show_list", is_flag=True, help="List writes and undo packs with sizes.")
def undo(folder: str, swap_id: str, show_list: bool) -> int:
    """Put back what a fix did: the latest write, or the one with this ID."""
    session = Session(session_folder(folder), actor())
    if show_list:
        _print_list(session)
        return 0
    new_id = session.undo(swap_id)
    out(f"put back, as {new_id}; hypotree redo --session {folder} brings it again")
    return 0


@click.command()
@_session
def redo(folder: str) -> int:
    """Undo the latest undo."""
    session = Session(session_folder(folder), actor())
    out(f"done again, as {session.redo()}")
    return 0


def _print_list(session: Session) -> None:
    sizes = session.undo_sizes()
    for write in session.snapshot().writes:
        state = f"undone by {write.undone_by}" if write.undone_by else "in force"
        for file in write.files:
            size = sizes.get(str(file.pack))
            kept = f"pack {file.pack.short}… {size} bytes" if size is not None else "pack is gone"
            out(f"{write.id}  {plain(write.node)}  {plain(file.path)}  {state}  {kept}")
