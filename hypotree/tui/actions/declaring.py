"""Add, edit, split, link rivals, bind a probe, attach, note. None of these takes a verdict."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hypotree.errors import MisuseError
from hypotree.model.declaration import SYMPTOM, Artifact, Binding, FixChoice, Hypothesis
from hypotree.model.verdict import Role
from hypotree.probe.api import Probe
from hypotree.probe.registry import all_probes, probe_class, probe_for
from hypotree.session import Session
from hypotree.session.snapshot import ArtifactView
from hypotree.tui.screens.form import Field, Values
from hypotree.tui.screens.pick import Choice

if TYPE_CHECKING:
    from hypotree.tui.screens.bench import Bench

_INPUTS = "INPUT=ARTIFACT, …; empty: all that the session has"


def next_free(taken: Iterable[str]) -> str:
    """The next free H number."""
    names = set(taken)
    return next(f"H{n}" for n in range(1, len(names) + 2) if f"H{n}" not in names)


def fields_of(node: str, hypothesis: Hypothesis | None, parent: str) -> list[Field]:
    """The fields of a hypothesis, filled with what it says now."""
    h = hypothesis or Hypothesis(claim="", fault="", probe="", parent=parent)
    fix = " ".join(part for part in (h.fix.name, h.fix.tensor) if part) if h.fix else ""
    return [
        Field("id", "name", node),
        Field("fault", "fault code", h.fault, "such as d2t.absolute-ids; b lists them"),
        Field("claim", "claim", h.claim, "what is wrong, in words; empty: the code's own"),
        Field("probe", "probe", h.probe, "empty: the one that decides the code"),
        Field("inputs", "inputs", pairs_text(h.inputs), _INPUTS),
        Field("fix", "fix", fix, "NAME [TENSOR]; empty: the code's own"),
        Field("parent", "parent", h.parent),
        Field("rivals", "rivals", ", ".join(h.rivals)),
    ]


def pairs_text(inputs: Mapping[str, Binding]) -> str:
    """Bindings as they are typed."""
    return ", ".join(f"{name}={binding.artifact}" for name, binding in inputs.items())


def hypothesis_of(
    values: Values, artifacts: Iterable[str], before: Hypothesis | None = None
) -> Hypothesis:
    """What was typed, as a declaration; what was left empty takes the probe's word for it."""
    fault = values["fault"].strip()
    probe = probe_class(values["probe"].strip()) if values["probe"].strip() else probe_for(fault)
    declared, there = probe.fault(fault), set(artifacts)
    bound = parse_pairs(values["inputs"], before.inputs if before else {})
    name, _, tensor = values["fix"].strip().partition(" ")
    return Hypothesis(
        claim=values["claim"].strip() or (declared.claim if declared else fault),
        fault=fault,
        probe=probe.name,
        inputs=bound or {t.name: Binding(t.name) for t in probe.takes if t.name in there},
        params=before.params if before and before.probe == probe.name else {},
        fix=_choice(name, tensor.strip(), before),
        parent=values["parent"].strip() or SYMPTOM,
        rivals=tuple(part.strip() for part in values["rivals"].split(",") if part.strip()),
    )


def _choice(name: str, tensor: str, before: Hypothesis | None) -> FixChoice | None:
    """The same fix keeps the names and the source that no field shows."""
    old = before.fix if before else None
    if old is not None and (old.name, old.tensor) == (name, tensor):
        return old
    return FixChoice(name, tensor) if name else None


def parse_pairs(text: str, before: Mapping[str, Binding]) -> dict[str, Binding]:
    """`draft=draft, truth=map`; a binding that is as before keeps its role."""
    bound = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, artifact = (part.strip() for part in pair.partition("="))
        if not equals or not artifact:
            raise MisuseError(f"reading the input {pair!r}", "it has no =", "such as draft=draft")
        old = before.get(name)
        bound[name] = old if old and old.artifact == artifact else Binding(artifact)
    return bound


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

    _declare(bench, "add", work)


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

    _declare(bench, f"edit:{node}", work)


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

    _declare(bench, f"split:{node}", work)


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

    _declare(bench, "", work)


def bindable(probes: Mapping[str, type[Probe]], artifacts: Iterable[ArtifactView]) -> list[Choice]:
    """Every fault code with its probe: those first whose required inputs the session has."""
    kinds = {a.artifact.kind for a in artifacts} | {a.name for a in artifacts}
    choices = []
    for name, probe in probes.items():
        lacks = [t.kind for t in probe.takes if t.is_required and not {t.kind, t.name} & kinds]
        why_not = f"needs a {', '.join(lacks)}" if lacks else ""
        choices += [
            Choice(f"{name}\t{f.code}", f"{f.code}  {name}: {f.claim}", why_not)
            for f in probe.decides
        ]
    return sorted(choices, key=lambda c: bool(c.why_not))


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

    _declare(bench, "", work)


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


def artifact_of(values: Values, folder: Path) -> Artifact:
    """What was typed, with the path relative to the session where there is such a file."""
    path, role = values["path"].strip(), values["role"].strip()
    if role not in set(Role):
        raise MisuseError("attaching", f"{role!r} is no role", f"one of {', '.join(Role)}")
    here = Path(path).expanduser()
    stored = os.path.relpath(here, folder) if path and here.exists() else path
    return Artifact(stored, Role(role), values["kind"].strip(), values["form"].strip())


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

    _declare(bench, f"note:{node}", work)


def _declare(bench: Bench, draft: str, work: Callable[[Session], str]) -> None:
    """Do it; only when it was done is the draft forgotten and the node gone to."""

    def declared(node: str) -> None:
        bench.drafts.pop(draft, None)
        bench.look(then=lambda: bench.go_to(node))

    bench.work(lambda: bench.desk.do(work), declared)
