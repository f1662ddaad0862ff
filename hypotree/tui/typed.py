"""What is typed into forms, to and from declarations."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from hypotree.errors import MisuseError
from hypotree.model.declaration import SYMPTOM, Artifact, Binding, FixChoice, Hypothesis
from hypotree.model.verdict import Role
from hypotree.probe.api import Probe
from hypotree.probe.registry import probe_class, probe_for
from hypotree.session.snapshot import ArtifactView
from hypotree.tui.screens.form import Field, Values
from hypotree.tui.screens.pick import Choice

_INPUTS: Final = "INPUT=ARTIFACT, …; empty: all that the session has"


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


def artifact_of(values: Values, folder: Path) -> Artifact:
    """What was typed, with the path relative to the session where there is such a file."""
    path, role = values["path"].strip(), values["role"].strip()
    if role not in set(Role):
        raise MisuseError("attaching", f"{role!r} is no role", f"one of {', '.join(Role)}")
    here = Path(path).expanduser()
    stored = os.path.relpath(here, folder) if path and here.exists() else path
    return Artifact(stored, Role(role), values["kind"].strip(), values["form"].strip())
