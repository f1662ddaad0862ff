"""The Fix tab: the plan before and after, the gate's answer, what the staged probes said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hypotree.model.refusal import Refusal
from hypotree.tui.content.evidence import node_head
from hypotree.tui.content.plan import file_lines
from hypotree.tui.lines import BLANK, Line, Role, heading, line, said

if TYPE_CHECKING:
    from hypotree.model.fix import StagedFinding
    from hypotree.session.asking import Answer
    from hypotree.session.snapshot import NodeView, WriteView


def fix_lines(
    view: NodeView, answer: Answer | None, writes: tuple[WriteView, ...], advice: str = ""
) -> Iterator[Line]:
    """What the node's fix would do, would have done, and did."""
    yield from node_head(view)
    yield line(said("fix: ", "dim"), said(view.fix, "strong"))
    if advice:
        yield line(said("advice: ", "accent"), said(advice), indent=2)
    yield BLANK
    if answer is not None:
        yield from answer_lines(answer)
    else:
        hint = "by hand: nothing is written for it" if view.fix == "advice" else "p plans it"
        yield line(said(f"No plan here yet: {hint}.", "dim"))
        yield from _last_refusal(view)
    mine = [write for write in writes if write.node == view.id]
    if mine:
        yield BLANK
        yield heading("Writes")
    for write in mine:
        yield from write_lines(write)


def answer_lines(answer: Answer) -> Iterator[Line]:
    """The gate's word first, then the plan that it is about."""
    yield from _decision(answer)
    yield BLANK
    for file in answer.plan.files if answer.plan else ():
        yield from file_lines(file)
    if answer.staged:
        yield heading("On the staged view")
        for found in answer.staged:
            yield _staged(found)


def _decision(answer: Answer) -> Iterator[Line]:
    if not isinstance(answer.decision, Refusal):
        yield line(said(f"The gate would let {answer.fix} write.", "good"))
    elif answer.decision.code == "NEEDS_APPROVAL" and not answer.decision.also:
        yield line(said("The gate lacks one thing: your agreement (A asks for it).", "accent"))
    else:
        yield from refusal_lines(answer.decision)


def refusal_lines(refusal: Refusal) -> Iterator[Line]:
    """A refusal: its code, what was found, what to do, what else stands against it."""
    yield line(said(f"REFUSED {refusal.code}", "bad"), said(f"  {refusal.asked}"), indent=2)
    yield line(said("  found: ", "dim"), said(refusal.found), indent=9)
    yield line(said("  next:  ", "dim"), said(refusal.next), indent=9)
    if refusal.also:
        yield line(said("  also:  ", "dim"), said(", ".join(refusal.also)), indent=9)


def write_lines(write: WriteView) -> Iterator[Line]:
    """One swap: what it was, whether it holds, which bytes it kept."""
    state = f"undone by {write.undone_by}" if write.undone_by else "in force"
    what = f"undo of {write.undoes}" if write.undoes else write.fix
    yield line(
        said(f"{write.id} ", "strong"), said(f"{what}, {state}, by {write.actor}"),
        said(f", {write.time[:19]}", "dim"), indent=4,
    )  # fmt: skip
    for file in write.files:
        yield line(
            said(f"    {file.path}: {file.size_before} to {file.size_after} bytes, "),
            said(f"{file.bytes_written} written, undo pack {file.pack.short}…", "dim"), indent=6,
        )  # fmt: skip


def _last_refusal(view: NodeView) -> Iterator[Line]:
    if view.refusals:
        yield BLANK
        yield from refusal_lines(view.refusals[-1])


def _staged(found: StagedFinding) -> Line:
    before = str(found.before or "unknown")
    mark = "  BREAKS" if found.is_broken else "  revealed" if found.is_revealed else ""
    role: Role = "bad" if found.is_broken else "dim" if found.before == found.after else ""
    return line(
        said(f"  {found.fault}: {before} -> {found.after}", role), said(mark, "bad"),
        said(f"  ({found.probe})", "dim"), indent=4,
    )  # fmt: skip
