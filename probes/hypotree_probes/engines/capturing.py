"""What the engine would capture of this target for this draft, asked of both its sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe import ProbeContext
from hypotree.probe.api import not_run
from hypotree_probes.engines.adapters import ADAPTERS, find_class
from hypotree_probes.engines.asking import BLIND, can_ask, flat_config, run, show_run
from hypotree_probes.engines.aux_ids import physical
from hypotree_probes.engines.harness.client import HarnessError
from hypotree_probes.engines.harness.tasks import RESOLVED

_NESTED = ("text_config", "llm_config", "language_config")


@dataclass(frozen=True)
class Capture:
    """The engine's answer."""

    engine: str
    target_class: str
    file: str
    outcome: str
    """`set`, `none` (no setter), `silent` (it did nothing), `raises`, or `off`."""
    layers: tuple[int, ...]
    """Physical outputs S_j, if `set`."""
    ids: tuple[int, ...] | None
    """What the engine read from the draft's config; None means that it takes its default."""
    default: tuple[int, ...]
    """The outputs that its default captures."""
    why: str
    read_in: str
    count: int | None
    """How many layers the target has."""


@dataclass(frozen=True)
class NoCapture:
    """Why there is no answer."""

    verdict: Verdict
    why: str

    def findings(self, *codes: str) -> list[Finding]:
        """The same for every code."""
        if self.verdict is Verdict.NOT_RUN:
            return [not_run(code, self.why) for code in codes]
        return [Finding(code, self.verdict, Authority.NONE, self.why) for code in codes]


def capture(context: ProbeContext) -> Capture | NoCapture:
    """Run the engine's resolver on the draft's config and its setter on the target's class."""
    draft, engine = context.need("draft", Checkpoint), context.get("engine", Engine)
    target = context.get("target", Checkpoint)
    if engine is None or target is None:
        return NoCapture(Verdict.NOT_RUN, "give --engine and --target: their sources decide it")
    if not can_ask(engine):
        why = f"the source of {engine.locator} is not at hand; give {engine.name}:PATH"
        return NoCapture(Verdict.INCONCLUSIVE, why)
    config = target.config()
    name = _class_of(config)
    adapter = ADAPTERS[engine.name]
    file = find_class(engine, adapter, name) if name else None
    if file is None:
        why = f"no file of {engine.locator} has the target's class {name or '(not named)'}"
        return NoCapture(Verdict.INCONCLUSIVE, why)
    try:
        found = _ask(engine, draft, config, name, file)
    except HarnessError as failure:
        where = f" ({failure.where})" if failure.where else ""
        verdict = Verdict.INVALID if failure.kind in BLIND else Verdict.INCONCLUSIVE
        return NoCapture(verdict, f"{engine.locator} could not be run: {failure.why}{where}")
    show_run(context, engine, found)
    return _capture(engine, found, config)


def _ask(
    engine: Engine, draft: Checkpoint, target: Mapping[str, object], name: str, file: str
) -> dict[str, Any]:
    adapter = ADAPTERS[engine.name]
    flat, converted = flat_config(draft.config())
    entry = {"file": file, "class": name, "config": dict(target), "ids": [RESOLVED, None]}
    request = {
        "package": adapter.package, "models": adapter.module, "config": flat,
        "tasks": {"resolve": list(adapter.resolvers), "setters": [entry]},
    }  # fmt: skip
    return run(engine, request) | {"converted": converted}


def _capture(
    engine: Engine, found: Mapping[str, Any], config: Mapping[str, object]
) -> Capture | NoCapture:
    resolved, setter = found["resolved"], found["setters"][0]
    if "undecidable" in setter:
        return NoCapture(Verdict.INCONCLUSIVE, setter["undecidable"])
    answer, default = setter["answers"]
    is_off = resolved["use"] is False
    ids = None if resolved["ids"] is None else tuple(resolved["ids"])
    return Capture(
        engine=f"{engine.name} {engine.version()}".strip(),
        target_class=setter["class"],
        file=setter["file"],
        outcome="off" if is_off else answer["outcome"],
        layers=physical(answer.get("layers", ())),
        ids=ids,
        default=physical(default.get("layers", ())),
        why=answer.get("why", ""),
        read_in=f"{resolved['file']}:{resolved['line']}",
        count=layer_count(config),
    )


def layer_count(config: Mapping[str, object]) -> int | None:
    """How many decoder layers a target's config names, nested ones included."""
    places: list[object] = [config.get(key) for key in _NESTED]
    for place in (*places, config):
        value = place.get("num_hidden_layers") if isinstance(place, dict) else None
        if type(value) is int:
            return value
    return None


def _class_of(config: Mapping[str, object]) -> str:
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list) and names else ""


def places(found: Capture, field: str = "") -> tuple[Locator, ...]:
    """The draft's field, and the engine's file that decided."""
    draft = Locator("draft", file="config.json", field=field)
    return (
        (draft, Locator("engine", file=found.file)) if field else (Locator("engine", found.file),)
    )
