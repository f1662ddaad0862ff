"""session.yaml to a Declaration; the tool reads it and never rewrites it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from hypotree.artifact.documents import as_mapping, read_yaml
from hypotree.artifact.files import DiskFile
from hypotree.digest import Digest
from hypotree.errors import MalformedError, UnknownNameError
from hypotree.model.declaration import (
    Artifact,
    CommandProbe,
    Declaration,
    Hypothesis,
    Policy,
    Symptom,
)
from hypotree.model.verdict import Role
from hypotree.model.wire import convert
from hypotree.probe.command import command_class
from hypotree.probe.registry import register_command
from hypotree.session.names import check_name

YAML_NAME = "session.yaml"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a session.yaml; there is none for a verdict, on purpose."""

    hypotree: Literal[1]
    symptom: Symptom
    artifacts: dict[str, Artifact] = {}
    hypotheses: dict[str, Hypothesis] = {}
    policy: Policy = Policy()
    probes: dict[str, CommandProbe] = {}


def read_declaration(folder: Path) -> tuple[Declaration, Digest]:
    """The declaration in `folder`'s session.yaml and the digest of its text."""
    path = folder / YAML_NAME
    if not path.is_file():
        raise UnknownNameError(
            f"opening the session {folder}", f"there is no {YAML_NAME} in it",
            f"hypotree new {folder} --draft PATH … makes one",
        )  # fmt: skip
    file = DiskFile(path)
    data = as_mapping(read_yaml(file, YAML_NAME), YAML_NAME)
    parsed: _File = convert(_spelled_out(data), _File, str(path))
    declaration = Declaration(
        parsed.symptom, parsed.artifacts, parsed.hypotheses, parsed.policy, parsed.probes
    )
    _check_names(declaration, path)
    for name, command in declaration.probes.items():
        register_command(command_class(name, command, folder.absolute()))
    return declaration, Digest.of(file.read(0, file.size))


def _spelled_out(data: Mapping[str, Any]) -> dict[str, Any]:
    """Short forms written out: `draft: draft` for a binding, `fix: NAME`, an artifact as its path."""
    out = dict(data)
    out["artifacts"] = {
        name: {"path": value} if isinstance(value, str) else value
        for name, value in _mapping(data.get("artifacts")).items()
    }
    out["hypotheses"] = {
        str(name): _hypothesis(value) for name, value in _mapping(data.get("hypotheses")).items()
    }
    if isinstance(probes := data.get("probes"), Mapping):
        out["probes"] = {str(name): _command(value) for name, value in probes.items()}
    policy = _mapping(data.get("policy"))
    if policy.get("rivals") is False:
        # YAML 1.1 reads a bare `off` as false.
        out["policy"] = {**policy, "rivals": "off"}
    symptom = data.get("symptom")
    if isinstance(symptom, str):
        out["symptom"] = {"what": symptom}
    elif isinstance(symptom, Mapping):
        out["symptom"] = _bound(symptom)
        if isinstance(symptom.get("replay"), Mapping):
            out["symptom"]["replay"] = _bound(symptom["replay"])
    return out


def _command(value: object) -> object:
    """`takes: {draft: checkpoint, map: vocabulary-map}`: the first is the subject, others truths."""
    if not isinstance(value, Mapping) or not isinstance(value.get("takes"), Mapping):
        return value
    roles = [Role.SUBJECT, *[Role.TRUTH] * len(value["takes"])]
    takes = {
        name: {"kind": kind, "role": role} if isinstance(kind, str) else kind
        for (name, kind), role in zip(value["takes"].items(), roles, strict=False)
    }
    return {**value, "takes": takes}


def _hypothesis(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    out = _bound(value)
    if isinstance(out.get("fix"), str):
        out["fix"] = {"name": out["fix"]}
    return out


def _bound(value: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(value)
    if isinstance(out.get("inputs"), Mapping):
        out["inputs"] = {
            name: {"artifact": bound} if isinstance(bound, str) else bound
            for name, bound in out["inputs"].items()
        }
    return out


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _check_names(declaration: Declaration, path: Path) -> None:
    for what, names in (
        ("hypothesis", declaration.hypotheses), ("artifact", declaration.artifacts),
    ):  # fmt: skip
        for name in names:
            check_name(what, name)
    if both := declaration.hypotheses.keys() & declaration.artifacts.keys():
        raise MalformedError(
            f"reading {path}", f"{min(both)!r} is both a hypothesis and an artifact"
        )
    used = [
        (node, binding.artifact)
        for node, hypothesis in declaration.hypotheses.items()
        for binding in hypothesis.inputs.values()
    ]
    used += [
        ("symptom", binding.artifact)
        for measure in declaration.symptom.measures()
        for binding in measure.inputs.values()
    ]
    for node, name in used:
        if name not in declaration.artifacts:
            raise MalformedError(
                f"reading {path}", f"{node} binds the artifact {name!r}, which is not declared",
                f"declared are {', '.join(declaration.artifacts) or 'none'}",
            )  # fmt: skip
