"""diagnose(): from a pile of files to the cause."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypotree.diagnosis.answers import Tested
from hypotree.diagnosis.conclusion import conclude
from hypotree.diagnosis.discovery import Found, discover, take_given
from hypotree.diagnosis.places import Surroundings, in_hub_cache
from hypotree.diagnosis.playbook import Playbook, Subject, load_playbook
from hypotree.diagnosis.run import Watcher, run_probes
from hypotree.diagnosis.sketch import Sketch, sketch, subject_of
from hypotree.diagnosis.subjects import check_given, chosen_draft, refuse_target
from hypotree.diagnosis.values import Diagnosis
from hypotree.model.event import Actor
from hypotree.probe.api import Probe
from hypotree.probe.registry import all_probes


@dataclass(frozen=True)
class Request:
    """What a person named; `given` are paths by input name."""

    draft: str
    given: Mapping[str, str]
    truth_form: str = ""
    playbook: str = ""
    session: str = ""
    is_looking: bool = True
    """Whether to look around for what was not named."""


@dataclass(frozen=True)
class Kept:
    """A diagnosis, and the token of its session, which is kept nowhere."""

    diagnosis: Diagnosis
    token: str = ""


def diagnose(
    draft: str | Path,
    *,
    target: str | Path | None = None,
    engine: str | None = None,
    vocab_map: str | Path | None = None,
    truth_form: str = "",
    train_config: str | Path | None = None,
    log: str | Path | None = None,
    hidden_states: str | Path | None = None,
    trace: str | Path | None = None,
    playbook: str | Path = "",
    session: str | Path = "",
    look_around: bool = True,
) -> Diagnosis:
    """Instantiate the playbook over what is given and found, run every probe that applies, conclude.

    `MisuseError` or `UnreadableError` for a draft that is none and for inputs that are not there.
    """
    named = {
        "target": target, "engine": engine, "truth": vocab_map, "train": train_config,
        "log": log, "sample": hidden_states, "trace": trace,
    }  # fmt: skip
    given = {name: str(value) for name, value in named.items() if value is not None}
    request = Request(str(draft), given, truth_form, str(playbook), str(session), look_around)
    return carry_out(request).diagnosis


def carry_out(request: Request, watcher: Watcher | None = None, actor: Actor | None = None) -> Kept:
    """The same with someone to watch it, and as the actor of the session that is kept."""
    started = time.perf_counter()
    playbook = load_playbook(request.playbook)
    if request.session:
        from hypotree.diagnosis.declaring import check_new

        check_new(Path(request.session))
    check_given(request.given)
    around = Surroundings(in_hub_cache(Path(request.draft)))
    draft, note = chosen_draft(Path(request.draft), around)
    first = sketch(draft)
    subject = subject_of(first, playbook)
    if subject is not None and subject.is_target:
        refuse_target(draft, subject, Surroundings(draft))
    found = take_given(draft, request.given, request.truth_form, playbook)
    found.notes += [note] if note else []
    if request.is_looking:
        discover(found, first, Surroundings(draft))
    watcher = watcher or Watcher()
    tested = _test(playbook, subject, first, found, watcher)
    diagnosis = conclude(tested, request.session or None, started, watcher)
    return Kept(diagnosis, _kept(request, diagnosis, playbook, actor or Actor("cli")))


def _test(
    playbook: Playbook, subject: Subject | None, first: Sketch, found: Found, watcher: Watcher
) -> Tested:
    loaded, broken = all_probes()
    found.notes += [f"probe {name} cannot be loaded: {why}" for name, why in broken.items()]
    ordered = _ordered(playbook, loaded)
    fit = subject is None or subject.is_fit
    chosen = [p for p in ordered if fit or playbook.plan(p.name).any_checkpoint]
    outcomes = run_probes(chosen, playbook, found.inputs, watcher)
    return Tested(playbook, subject, first, found, ordered, outcomes)


def _ordered(playbook: Playbook, loaded: Mapping[str, type[Probe]]) -> Sequence[type[Probe]]:
    """The playbook's probes in its order, then any others that are installed and take a draft."""
    named = [plan.probe for plan in playbook.probes if plan.probe in loaded]
    others = [name for name in loaded if name not in named]
    return [loaded[name] for name in [*named, *others]]


def _kept(request: Request, diagnosis: Diagnosis, playbook: Playbook, actor: Actor) -> str:
    if not request.session:
        return ""
    from hypotree.diagnosis.keeping import keep

    inputs = {taken.name: taken for taken in diagnosis.inputs}
    folder = Path(request.session)
    return keep(folder, diagnosis.hypotheses, diagnosis.evidence, playbook, inputs, actor)
