"""Start a session: the one time that a session.yaml is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hypotree.atomic import write_file
from hypotree.errors import MisuseError
from hypotree.model.event import Actor
from hypotree.probe.flag_inputs import FLAG_INPUTS
from hypotree.session.approval import new_token
from hypotree.session.core import JOURNAL_NAME
from hypotree.session.session import Session
from hypotree.session.yaml_file import YAML_NAME


@dataclass(frozen=True)
class NewSession:
    """What a person names when they start: paths by input name."""

    folder: Path
    symptom: str
    paths: Mapping[str, str]
    approve: str


@dataclass(frozen=True)
class Created:
    """The file that was written, and the token, which is kept nowhere ("" for an agent)."""

    yaml: Path
    token: str


def create_session(new: NewSession, actor: Actor | None = None) -> Created:
    """Write session.yaml and begin the journal; `MisuseError` if there is a session already.

    An agent may begin one: what it names is proposed, and it gets no token.
    """
    actor = actor or Actor("cli")
    path = new.folder / YAML_NAME
    if path.exists() or (new.folder / JOURNAL_NAME).exists():
        raise MisuseError(f"starting a session in {new.folder}", "there is one already")
    new.folder.mkdir(parents=True, exist_ok=True)
    write_file(path, _yaml(new).encode())
    token = "" if actor.is_agent else new_token(new.folder)
    Session(new.folder, actor)
    return Created(path, token)


def _yaml(new: NewSession) -> str:
    import yaml

    artifacts = {
        name: {
            "path": _relative(new.folder, value, kind),
            "role": str(role),
            "kind": kind,
        }
        for name, value in new.paths.items()
        for kind, role in [FLAG_INPUTS[name]]
    }
    document: dict[str, object] = {"hypotree": 1, "symptom": _symptom(new)}
    document |= {"artifacts": artifacts, "hypotheses": {}, "policy": {"approve": new.approve}}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def _symptom(new: NewSession) -> dict[str, object]:
    symptom: dict[str, object] = {"what": new.symptom}
    if "log" in new.paths:
        symptom |= {"probe": "acceptance-log", "inputs": {"log": "log"}}
    return symptom


def _relative(folder: Path, value: str, kind: str) -> str:
    """Paths are kept relative to the session, so that both can move together."""
    prefix = ""
    if kind == "engine":
        name, colon, path = value.partition(":")
        if not colon:
            return value
        prefix, value = f"{name}:", path
    return prefix + os.path.relpath(value, folder)
