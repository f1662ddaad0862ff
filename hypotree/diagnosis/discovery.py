"""From a drafter and what was named to all inputs: found by content, proposed only, and said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hypotree.artifact.train_config import TrainConfig
from hypotree.diagnosis.dependence import dependence
from hypotree.diagnosis.engines import find_engine, log_head, trace_start
from hypotree.diagnosis.places import Place, Surroundings
from hypotree.diagnosis.playbook import Playbook
from hypotree.diagnosis.recognise import Seen, recognise
from hypotree.diagnosis.sketch import Sketch
from hypotree.diagnosis.targets import find_target
from hypotree.diagnosis.values import InputTaken
from hypotree.errors import HypotreeError

#: Input names, the kinds of artifact that they are, and in what order they are looked for.
KINDS: Final = {
    "draft": "checkpoint", "truth": "vocabulary-map", "train_config": "train-config",
    "trace": "trace", "log": "log", "sample": "sample", "target": "checkpoint", "engine": "engine",
}  # fmt: skip
_BY_KIND: Final = {
    KINDS[name]: name for name in ("truth", "train_config", "trace", "log", "sample")
}
#: SGLang prints its server_args, vLLM its speculative config: both name the drafter.
_SERVED: Final = re.compile(
    r"speculative_draft_model_path['\"]?[=:]\s*['\"]([^'\"]{1,400})['\"]"
    r"|speculative_config[^\n]{0,200}?['\"]?model['\"]?[=:]\s*['\"]([^'\"]{1,400})['\"]"
)


@dataclass
class Found:
    """All inputs, what was named coming first, and what was left aside."""

    inputs: dict[str, InputTaken] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def path(self, name: str) -> Path | None:
        """Where an input is; None if there is none."""
        taken = self.inputs.get(name)
        return Path(taken.path) if taken else None


def take_given(draft: Path, given: Mapping[str, str], form: str) -> Found:
    """What a person named; each path is looked for, and nothing else is asked of it yet."""
    found = Found({"draft": InputTaken("draft", KINDS["draft"], str(draft), "given", "named")})
    for name, value in given.items():
        shape = form if name == "truth" else ""
        tied = dependence(KINDS[name], value, draft) if name in {"truth", "target"} else ""
        found.inputs[name] = InputTaken(name, KINDS[name], value, "given", "named", shape, tied)
    return found


def discover(found: Found, draft: Sketch, around: Surroundings, playbook: Playbook) -> None:
    """Add to `found` what lies around the drafter and was not named."""
    places = around.files()
    _from_files(found, draft, around, places)
    if "target" not in found.inputs:
        target, why = find_target(draft, places, playbook)
        if target is not None:
            _take(found, "target", str(target), why)
        elif why:
            found.notes.append(why)
    if "engine" not in found.inputs:
        engine = find_engine(around, found.path("trace"), found.path("log"))
        if engine is not None and engine.spec:
            _take(found, "engine", engine.spec, engine.why)
        elif engine is not None:
            found.notes.append(f"no engine is taken: {engine.why}")


def _from_files(found: Found, draft: Sketch, around: Surroundings, places: list[Place]) -> None:
    draft_path = Path(found.inputs["draft"].path)
    seen: dict[str, list[tuple[Place, Seen]]] = {}
    for place in places:
        what = recognise(place.path) if _may_be_ours(place.path, around.folder) else None
        name = _BY_KIND.get(what.kind) if what else None
        if what is None or name is None or name in found.inputs:
            continue
        problem = _unfit(name, place.path, what, draft, draft_path)
        if problem:
            found.notes.append(f"{place.path} is left aside as {name}: {problem}")
        else:
            seen.setdefault(name, []).append((place, what))
    for name in (n for n in KINDS if n in seen):
        _take_nearest(found, name, seen[name])


def _may_be_ours(path: Path, draft: Path) -> bool:
    """The draft's own config and shards are the draft: no file of it is truth for another."""
    own = path.parent == draft and path.suffix in {".json", ".safetensors", ".bin"}
    return not own and path.name != "session.yaml"


def _unfit(name: str, path: Path, what: Seen, draft: Sketch, draft_path: Path) -> str:
    """Why a file is not of this drafter; "" if nothing speaks against it."""
    size = draft.draft_vocabulary
    if name == "truth":
        if size is not None and what.length != size:
            return f"it has {what.length} ids, the draft {size}"
        return dependence("vocabulary-map", str(path), draft_path)
    if name == "train_config":
        return _other_sizes(path, draft)
    if name == "log":
        served = _SERVED.search(log_head(path))
        return _other_draft((served[1] or served[2]) if served else "", draft_path)
    return (
        _other_draft(str(trace_start(path).get("draft", "")), draft_path) if name == "trace" else ""
    )


def _other_sizes(path: Path, draft: Sketch) -> str:
    try:
        record = TrainConfig(str(path)).record()
    except HypotreeError as error:
        return error.found
    if record.form == "run":
        return ""
    for name in ("draft_vocab_size", "hidden_size"):
        said, ours = record.number(name), draft.number(name)
        if said is not None and ours is not None and said != ours:
            return f"its {name} is {said}, the draft's {ours}"
    return ""


def _other_draft(named: str, draft: Path) -> str:
    """A log or trace that names the drafter must name this one, by the end of its path."""
    ends = [part for part in Path(named).parts if part not in {"/", "."}]
    ours = draft.resolve().parts
    if not ends or ends[-1] in ours:
        return ""
    return f"it is about {named}"


def _take_nearest(found: Found, name: str, seen: list[tuple[Place, Seen]]) -> None:
    near = min(place.distance for place, _ in seen)
    nearest = [(place, what) for place, what in seen if place.distance == near]
    if name in {"truth", "train_config"} and len({w.digest or p.path for p, w in nearest}) > 1:
        names = ", ".join(str(place.path) for place, _ in nearest[:4])
        found.notes.append(f"no {name} is taken: several are as near ({names}); say which")
        return
    place, what = max(nearest, key=lambda pair: pair[0].path.stat().st_mtime)
    others = [str(p.path) for p, _ in seen if p.path != place.path]
    aside = f"; others are left aside: {', '.join(others[:3])}" if others else ""
    _take(found, name, str(place.path), what.why + aside)


def _take(found: Found, name: str, path: str, why: str) -> None:
    found.inputs[name] = InputTaken(name, KINDS[name], path, "found", why)
