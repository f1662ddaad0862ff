"""Attach an artifact; leave a note."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hypotree.model.declaration import SYMPTOM
from hypotree.session import Session
from hypotree.tui.actions.declaring import declare
from hypotree.tui.screens.form import Field, Values
from hypotree.tui.typed import artifact_of

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench


def attach(bench: Bench) -> None:
    """A new artifact, or another file under a name; the symptom is measured again if it reads it."""
    fields = [
        Field("name", "name", "", "an artifact's name points to the new file from now on"),
        Field("path", "path"),
        Field("role", "role", "observation", "subject, truth, observation"),
        Field("kind", "kind", "", "checkpoint, vocabulary-map, engine, log, trace, sample"),
        Field("form", "form", "", "of a vocabulary map: offsets or absolute"),
    ]
    bench.form("attach", "Attach", fields, partial(_attach, bench))


def _attach(bench: Bench, values: Values) -> None:
    name = values["name"].strip()

    def work(session: Session) -> bool:
        session.attach(name, artifact_of(values, session.folder.resolve()))
        measures = session.state().symptom.measures()
        return any(b.artifact == name for m in measures for b in m.inputs.values())

    def attached(is_symptoms: bool) -> None:  # noqa: FBT001 - a result, not a flag
        bench.drafts.pop("attach", None)
        tail = "; the symptom is measured again" if is_symptoms else ""
        bench.tell(f"{name} attached{tail}")
        if is_symptoms:
            bench.jobs.add([SYMPTOM])
        bench.look()

    bench.work(lambda: bench.desk.do(work), attached)


def note(bench: Bench) -> None:
    """A note on the node under the cursor."""
    node = bench.node
    field = Field("text", f"note on {node}", "", is_long=True)
    bench.form(f"note:{node}", f"Note on {node}", [field], partial(_note, bench, node))


def _note(bench: Bench, node: str, values: Values) -> None:
    def work(session: Session) -> str:
        session.note(node, values["text"])
        return node

    declare(bench, f"note:{node}", work)
