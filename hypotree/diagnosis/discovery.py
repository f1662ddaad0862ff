"""From a drafter and what was named to all inputs: found by content, proposed only, and said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from hypotree.artifact.training_config import TrainingConfig
from hypotree.diagnosis.dependence import dependence
from hypotree.diagnosis.engines import find_engine, log_head, trace_start
from hypotree.diagnosis.places import Place, Surroundings
from hypotree.diagnosis.playbook import Playbook
from hypotree.diagnosis.recognise import Seen, recognise
from hypotree.diagnosis.sketch import Sketch
from hypotree.diagnosis.targets import find_target
from hypotree.diagnosis.values import InputTaken
from hypotree.errors import HypotreeError, MisuseError
from hypotree.model.verdict import Role
from hypotree.probe.flag_inputs import FLAG_INPUTS
from hypotree.probe.registry import all_probes

_BY_KIND: Final = {FLAG_INPUTS[n][0]: n for n in ("truth", "train", "trace", "log", "sample")}
#: SGLang prints its server_args, vLLM its speculative config: both name the drafter.
_SERVED: Final = re.compile(
    r"speculative_draft_model_path['\"]?[=:]\s*['\"]([^'\"]{1,400})['\"]"
    r"|speculative_config[^\n]{0,200}?['\"]?model['\"]?[=:]\s*['\"]([^'\"]{1,400})['\"]"
)


@dataclass
class Found:
    """All inputs, what was named coming first, and what was left aside."""

    playbook: Playbook
    inputs: dict[str, InputTaken] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def path(self, name: str) -> Path | None:
        """Where an input is; None if there is none."""
        taken = self.inputs.get(name)
        return Path(taken.path) if taken else None


def take_given(draft: Path, given: Mapping[str, str], form: str, playbook: Playbook) -> Found:
    """What a person named; each path is looked for, and nothing else is asked of it yet."""
    found = Found(playbook)
    _take(found, "draft", str(draft), "named", is_given=True)
    for name, value in given.items():
        _take(found, name, value, "named", is_given=True)
        taken = found.inputs[name]
        tied = dependence(taken.kind, value, draft) if name in {"truth", "target"} else ""
        form_of = form if name == "truth" else ""
        found.inputs[name] = replace(taken, form=form_of, dependence=tied)
    return found


def discover(found: Found, draft: Sketch, around: Surroundings) -> None:
    """Add to `found` what lies around the drafter and was not named."""
    places = around.files()
    _from_files(found, draft, around, places)
    if "target" not in found.inputs:
        target, why = find_target(draft, places, found.playbook)
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
    for name in (n for n in FLAG_INPUTS if n in seen):
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
    if name == "train":
        return _other_sizes(path, draft)
    if name == "log":
        served = _SERVED.search(log_head(path))
        return _other_draft((served[1] or served[2]) if served else "", draft_path)
    return (
        _other_draft(str(trace_start(path).get("draft", "")), draft_path) if name == "trace" else ""
    )


def _other_sizes(path: Path, draft: Sketch) -> str:
    try:
        record = TrainingConfig(str(path)).record()
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
    if name in {"truth", "train"} and len({w.digest or p.path for p, w in nearest}) > 1:
        names = ", ".join(str(place.path) for place, _ in nearest[:4])
        found.notes.append(f"no {name} is taken: several are as near ({names}); say which")
        return
    place, what = max(nearest, key=lambda pair: pair[0].path.stat().st_mtime)
    others = [str(p.path) for p, _ in seen if p.path != place.path]
    aside = f"; others are left aside: {', '.join(others[:3])}" if others else ""
    _take(found, name, str(place.path), what.why + aside)


def _take(found: Found, name: str, path: str, why: str, *, is_given: bool = False) -> None:
    kind, role = FLAG_INPUTS.get(name) or _kind_of(name, found.playbook)
    found.inputs[name] = InputTaken(name, kind, role, path, "given" if is_given else "found", why)


def _kind_of(name: str, playbook: Playbook) -> tuple[str, Role]:
    """Of an input that only some installed probe knows; `MisuseError` if none does."""
    known = {
        playbook.plan(probe.name).names.get(taken.name, taken.name): (taken.kind, taken.role)
        for probe in all_probes()[0].values()
        for taken in probe.takes
    }
    if name not in known:
        names = ", ".join(sorted(known))
        raise MisuseError(f"taking the input {name!r}", "no installed probe takes it", names)
    return known[name]
