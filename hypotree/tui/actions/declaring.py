"""Add, edit, split, link rivals, bind a probe. None of these takes a verdict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from hypotree.model.declaration import Binding
from hypotree.probe.registry import all_probes, probe_class
from hypotree.session import Session
from hypotree.tui.screens.form import Field, Values
from hypotree.tui.screens.pick import Choice
from hypotree.tui.typed import bindable, fields_of, hypothesis_of, next_free

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


def add(bench: Bench) -> None:
    """A hypothesis below the node under the cursor."""
    board = bench.board
    if board is not None:
        name = next_free(board.shape.hypotheses)
        bench.form(
            "add", "Add a hypothesis", fields_of(name, None, bench.node), partial(_add, bench)
        )


def _add(bench: Bench, values: Values) -> None:
    node = values["id"].strip()

    def work(session: Session) -> str:
        session.add(node, hypothesis_of(values, session.state().artifacts))
        return node

    declare(bench, "add", work)


def edit(bench: Bench) -> None:
    """Declare the node anew; its evidence no longer speaks for it if what it says has changed."""
    node, hypothesis = bench.node, bench.hypothesis()
    if hypothesis is not None:
        fields = [f for f in fields_of(node, hypothesis, "") if f.name != "id"]
        bench.form(f"edit:{node}", f"Edit {node}", fields, partial(_edit, bench, node))


def _edit(bench: Bench, node: str, values: Values) -> None:
    def work(session: Session) -> str:
        before = session.hypothesis(node)
        session.edit(node, hypothesis_of(values, session.state().artifacts, before))
        return node

    declare(bench, f"edit:{node}", work)


def split(bench: Bench) -> None:
    """Break a claim into narrower ones, each a child with the same binding to begin with."""
    node = bench.node
    field = Field("claims", f"narrower claims under {node}", "", "one a line", is_long=True)
    bench.form(f"split:{node}", f"Split {node}", [field], partial(_split, bench, node))


def _split(bench: Bench, node: str, values: Values) -> None:
    claims = [text.strip() for text in values["claims"].splitlines() if text.strip()]

    def work(session: Session) -> str:
        parent = session.hypothesis(node)
        for claim in claims:
            name = next_free(session.state().hypotheses)
            child = msgspec.structs.replace(parent, claim=claim, parent=node, rivals=())
            session.add(name, child)
        return node

    declare(bench, f"split:{node}", work)


def rivals(bench: Bench) -> None:
    """Link a rival, or unlink one that is linked."""
    board, node, hypothesis = bench.board, bench.node, bench.hypothesis()
    if board is None or hypothesis is None:
        return
    choices = [
        Choice(n, f"{'[x]' if n in hypothesis.rivals else '[ ]'} {n}  {h.claim}")
        for n, h in board.shape.hypotheses.items() if n != node
    ]  # fmt: skip
    bench.pick(f"Rivals of {node}", choices, partial(_rival, bench, node))


def _rival(bench: Bench, node: str, rival: str) -> None:
    def work(session: Session) -> str:
        now = session.hypothesis(node)
        kept = tuple(r for r in now.rivals if r != rival)
        linked = now.rivals if rival in now.rivals else (*now.rivals, rival)
        new = kept if rival in now.rivals else linked
        session.edit(node, msgspec.structs.replace(now, rivals=new))
        return node

    declare(bench, "", work)


def bind(bench: Bench) -> None:
    """Choose the fault code, and with it the probe, of this node."""
    board, node = bench.board, bench.node
    if board is not None:
        bench.work(
            lambda: bindable(all_probes()[0], board.view.artifacts),
            lambda choices: bench.pick(
                f"What decides {node}", choices, partial(_bind, bench, node)
            ),
        )


def _bind(bench: Bench, node: str, value: str) -> None:
    name, _, code = value.partition("\t")

    def work(session: Session) -> str:
        now, takes = session.hypothesis(node), probe_class(name).takes
        there = session.state().artifacts
        inputs = {
            t.name: now.inputs.get(t.name, Binding(t.name))
            for t in takes
            if t.name in now.inputs or t.name in there
        }
        changed = msgspec.structs.replace(
            now, probe=name, fault=code, inputs=inputs, params={}, fix=None
        )
        session.edit(node, changed)
        return node

    declare(bench, "", work)


def declare(bench: Bench, draft: str, work: Callable[[Session], str]) -> None:
    """Do it; only when it was done is the draft forgotten and the node gone to."""

    def declared(node: str) -> None:
        bench.drafts.pop(draft, None)
        bench.look(then=lambda: bench.go_to(node))

    bench.work(lambda: bench.desk.do(work), declared)
