"""Call the target class's own setter, and see which layers it would capture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypotree_probes.engines.harness.built import Built
from hypotree_probes.engines.harness.classes import SETTER, Classes, ClassPlace
from hypotree_probes.engines.harness.config import Watch, text_config
from hypotree_probes.engines.harness.importer import EngineFiles
from hypotree_probes.engines.harness.lines import Lines
from hypotree_probes.engines.harness.stubs import Undecidable

CAPTURE = "layers_to_capture"


def captures(
    files: EngineFiles,
    path: str,
    name: str,
    config: Mapping[str, Any],
    asked: list[list[int] | None],
    lines: Lines,
) -> dict[str, Any]:
    """For each list of ids (None is the default): what the setter did.

    `none`: the class has no setter. `silent`: it ran and set nothing. `raises`: it stops the
    engine. `set`: the internal indices, each of which stands for the input of that layer.
    """
    classes = Classes(files)
    place = classes.find(path, name)
    if place is None:
        raise Undecidable(f"{path} has no class {name}")
    return {
        "class": name, "file": path, "inner": _inner(classes, place, config),
        "answers": [_one(classes, place, config, ids, lines) for ids in asked],
    }  # fmt: skip


def _inner(classes: Classes, place: ClassPlace, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a wrapper wraps: the class of its language model, and whether that has a setter."""
    built = Built(classes, place, text_config(config, Watch()), [])
    try:
        held = built.language_model
        if not isinstance(held, Built):
            return None
        return {"class": held.__dict__["_h_path"], "has_setter": hasattr(held, SETTER)}
    except (AttributeError, Undecidable):
        return None


def _one(
    classes: Classes,
    place: ClassPlace,
    config: Mapping[str, Any],
    ids: list[int] | None,
    lines: Lines,
) -> dict[str, Any]:
    log: list[tuple[str, str, Any]] = []
    built = Built(classes, place, text_config(config, Watch()), log)
    answer: dict[str, Any] = {"ids": ids}
    try:
        setter = getattr(built, SETTER)
    except AttributeError:
        return answer | {"outcome": "none"}
    try:
        with lines.watching():
            setter(None if ids is None else list(ids))
    except Exception as error:  # noqa: BLE001 - what stops the engine is an answer
        return answer | {"outcome": "raises", "why": f"{type(error).__name__}: {error}"[:300]}
    found = [(owner, value) for owner, attribute, value in log if attribute == CAPTURE]
    if not found:
        return answer | {"outcome": "silent"}
    owner, value = found[-1]
    if not isinstance(value, (list, tuple, set)) or not all(isinstance(i, int) for i in value):
        raise Undecidable(f"{owner}.{CAPTURE} became {value!r}")
    return answer | {"outcome": "set", "layers": sorted(value), "on": owner}
