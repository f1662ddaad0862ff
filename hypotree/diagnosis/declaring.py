"""A diagnosis's inputs as a session: what was named is declared, what was found is proposed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hypotree.atomic import write_file
from hypotree.diagnosis.playbook import ProbePlan
from hypotree.diagnosis.run import input_for
from hypotree.diagnosis.values import Diagnosed, InputTaken
from hypotree.errors import MisuseError
from hypotree.model.declaration import SYMPTOM, Artifact, Binding, Hypothesis
from hypotree.model.event import Actor
from hypotree.model.evidence import Evidence
from hypotree.probe.registry import probe_class
from hypotree.session import Session
from hypotree.session.core import JOURNAL_NAME
from hypotree.session.yaml_file import YAML_NAME

#: Discovery proposes as an agent does: only a person turns what it found into a truth.
DISCOVERY: Final = Actor("agent", "discovery")


def check_new(folder: Path) -> None:
    """`MisuseError` if there is a session in the folder already."""
    if (folder / YAML_NAME).exists() or (folder / JOURNAL_NAME).exists():
        raise MisuseError(
            f"keeping the diagnosis in {folder}", "there is a session already",
            f"hypotree show {folder}, or name another folder",
        )  # fmt: skip


def declare(
    folder: Path, inputs: Mapping[str, InputTaken], what: str, approve: str, actor: Actor
) -> Session:
    """Write session.yaml with what was named, open it, and propose the rest."""
    import yaml

    given = {name: taken for name, taken in inputs.items() if is_declared(taken)}
    artifacts = {
        name: {"path": _path(folder, taken), "role": str(taken.role), "kind": taken.kind,
               **({"form": taken.form} if taken.form else {})}
        for name, taken in given.items()
    }  # fmt: skip
    symptom: dict[str, object] = {"what": what}
    if "log" in given:
        symptom |= {"probe": "acceptance-log", "inputs": {"log": "log"}}
    document = {"hypotree": 1, "symptom": symptom, "artifacts": artifacts, "hypotheses": {},
                "policy": {"approve": approve}}  # fmt: skip
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    write_file(folder / YAML_NAME, text.encode())
    session = Session(folder, actor)
    proposer = Session(folder, DISCOVERY)
    for name, taken in inputs.items():
        if not is_declared(taken):
            artifact = Artifact(_path(folder, taken), taken.role, taken.kind)
            proposer.attach(name, artifact)
    return Session(folder, actor) if len(given) < len(inputs) else session


def is_declared(taken: InputTaken) -> bool:
    """What was named; and a log, which is no truth, so that the symptom can be measured by it."""
    return taken.origin == "given" or taken.kind == "log"


def hypothesis(
    found: Diagnosed,
    evidence: Evidence,
    plan: ProbePlan,
    inputs: Mapping[str, InputTaken],
    parent: str = SYMPTOM,
) -> Hypothesis:
    """The declaration of one hypothesis, bound as it was when its probe ran."""
    used = {record.name for record in evidence.inputs if record.kind != "rules"}
    bound = {
        taken.name: Binding(source.name)
        for taken in probe_class(evidence.probe).takes
        if taken.name in used and (source := input_for(taken, inputs, plan)) is not None
    }
    return Hypothesis(
        claim=found.claim, fault=found.fault, probe=evidence.probe, inputs=bound,
        params=dict(plan.params), parent=parent,
    )  # fmt: skip


def _path(folder: Path, taken: InputTaken) -> str:
    """Relative to the session, so that both can move together; an engine's name stays a name."""
    prefix, path = "", taken.path
    if taken.kind == "engine":
        name, colon, path = taken.path.partition(":")
        if not colon:
            return taken.path if not Path(taken.path).exists() else os.path.abspath(taken.path)  # noqa: PTH100
        prefix = f"{name}:"
    return prefix + os.path.relpath(path, folder)
