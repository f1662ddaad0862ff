"""Put questions about a draft to an engine's own source, through the harness."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.digest import Digest
from hypotree.model.evidence import Table
from hypotree.probe import ProbeContext
from hypotree_probes.engines.adapters import ADAPTERS, Adapter, find_class
from hypotree_probes.engines.harness.client import HarnessError, Provider, ask

SECONDS: Final = 120.0
_NESTED: Final = "transformer_layer_config"
_ROWS: Final = 24
#: How a run can end that says nothing about the engine: then the probe itself has failed.
BLIND: Final = frozenset({"ended", "nonsense", "time-out"})
#: What the rule files may answer for, as far as they go.
UNANSWERED: Final = frozenset({"undecidable", "no-class"})


def can_ask(engine: Engine) -> bool:
    """Whether there is a source to run, and an adapter that knows its folders."""
    return engine.source is not None and engine.name in ADAPTERS


def flat_config(config: Mapping[str, object]) -> tuple[dict[str, Any], str]:
    """The config as the engine is handed it, and what was converted for that, in words."""
    nested = config.get(_NESTED)
    if not isinstance(nested, dict):
        return dict(config), ""
    own = {key: value for key, value in config.items() if value is not None and key != _NESTED}
    flat = {key: value for key, value in (nested | own).items() if value is not None}
    return flat, f"the fields below {_NESTED} are lifted up, and nulls left out"


def draft_class(config: Mapping[str, object], adapter: Adapter, engine: Engine) -> str:
    """The class that the engine takes for the draft."""
    if "speculators_model_type" in config or "speculators_config" in config:
        nested = config.get(_NESTED)
        kind = nested.get("model_type") if isinstance(nested, dict) else ""
        special = adapter.stand_in_for.get(f"speculators:{kind}", "")
        if special and find_class(engine, adapter, special):
            return special
        return adapter.stand_in_for.get("speculators", "")
    names = config.get("architectures")
    name = str(names[0]) if isinstance(names, list) and names else ""
    return adapter.stand_in_for.get(name, name)


def ask_about_draft(
    engine: Engine,
    draft: Checkpoint,
    tasks: dict[str, Any],
    *,
    seconds: float = SECONDS,
    memory: int | None = None,
) -> dict[str, Any]:
    """The answers of the engine's draft class; `HarnessError` where there is none."""  # fmt: skip
    adapter, config = ADAPTERS[engine.name], draft.config()
    name = draft_class(config, adapter, engine)
    file = find_class(engine, adapter, name) if name else None
    if file is None:
        raise HarnessError("no-class", f"no file of {engine.locator} has a class {name or '?'}")
    flat, converted = flat_config(config)
    module = f"{adapter.package}.{file.removesuffix('.py').replace('/', '.')}"
    request = {
        "package": adapter.package, "models": adapter.module, "module": module, "class": name,
        "config": flat, "tasks": {"draft": True, **tasks},
    }  # fmt: skip
    found = run(engine, request, draft, seconds=seconds, memory=memory)
    return found | {"file": file, "class": name, "converted": converted}


def run(
    engine: Engine,
    request: dict[str, Any],
    draft: Checkpoint | None = None,
    *,
    seconds: float = SECONDS,
    memory: int | None = None,
) -> dict[str, Any]:
    """One request; every file that the engine's code is run from is noted as read.

    The same request to the same files within one process is answered once: a fix asks the same
    before and after. Requests that take tensors' bytes are always run.
    """  # fmt: skip
    key = f"{engine.locator} {json.dumps(request, sort_keys=True)}"
    held = _ANSWERS.get(key)
    if held is not None and all(_digest(engine.text(name)) == was for name, was in held.files):
        return held.result
    served: dict[str, str] = {}

    def file(name: str) -> bytes | None:
        data = engine.text(name)
        served[name] = _digest(data)
        return data

    def tensor(name: str) -> bytes:
        value = draft.tensor(name) if draft else None
        return value.data if value else b""

    limits = {} if memory is None else {"memory": memory}
    result = ask(request, Provider(engine.has, file, tensor), seconds=seconds, **limits)
    if "values" not in request["tasks"]:
        _ANSWERS[key] = _Answer(tuple(served.items()), result)
    return result


@dataclass(frozen=True)
class _Answer:
    files: tuple[tuple[str, str], ...]
    result: dict[str, Any]


_ANSWERS: Final[dict[str, _Answer]] = {}


def _digest(data: bytes | None) -> str:
    return "" if data is None else Digest.of(data).hex


def show_run(context: ProbeContext, engine: Engine, found: Mapping[str, Any]) -> None:
    """The lines that ran, file by file with digests, and what was not real."""
    read = {item.name: item.sha256.short for item in engine.reads if item.kind == "file"}
    ran = [(file, function, lines) for file, function, lines in found.get("lines", ())]
    rows = [(file, function, lines, read.get(file, "")) for file, function, lines in ran[:_ROWS]]
    context.show(Table("Ran in the engine", ("file", "function", "lines", "sha256"), tuple(rows)))
    stubs = ", ".join(found.get("stubs", ())[:8]) or "none"
    said = [("box", str(found.get("guard", ""))), ("stubs that were touched", stubs)]
    if engine.wheel:
        said.append(("wheel sha256", engine.wheel))
    if found.get("converted"):
        said.append(("config", str(found["converted"])))
    context.show(Table("How it was run", ("what", "how"), tuple(said)))
