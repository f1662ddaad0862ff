"""Run what the playbook plans: independent probes side by side, later runs for what stays open."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hypotree.diagnosis.playbook import Playbook, ProbePlan
from hypotree.diagnosis.values import InputTaken
from hypotree.errors import HypotreeError, UnreadableError
from hypotree.model.evidence import Evidence
from hypotree.model.verdict import Role, Verdict
from hypotree.probe.api import Input, Probe
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe

_DECIDED = frozenset({Verdict.CONFIRMED, Verdict.REFUTED})


@dataclass(frozen=True)
class Outcome:
    """All runs of one probe; `problem` says why there is none, or no more."""

    probe: type[Probe]
    evidence: tuple[Evidence, ...]
    problem: str = ""
    is_unreadable: bool = False
    """Whether an input could not be read."""
    missing: tuple[str, ...] = ()
    """Inputs without which it could not run."""

    @property
    def ran(self) -> bool:
        """Whether there is any evidence of it."""
        return bool(self.evidence)


class Watcher:
    """Told what happens while probes run; this one is silent."""

    def planned(self, probes: Sequence[str]) -> None:
        """All that will run."""

    def advanced(self, probe: str, done: int, total: int) -> None:
        """One probe has come so far."""

    def ended(self, outcome: Outcome) -> None:
        """One probe is through."""

    def asking(self, faults: Sequence[str]) -> None:
        """The gate is asked about the fixes of these."""


def run_probes(
    probes: Sequence[type[Probe]],
    playbook: Playbook,
    inputs: Mapping[str, InputTaken],
    watcher: Watcher,
) -> list[Outcome]:
    """The outcome of each probe, in the order given, as many at a time as there are cores."""
    watcher.planned([probe.name for probe in probes])
    outcomes: dict[str, Outcome] = {}
    groups: dict[str, list[type[Probe]]] = {}
    for probe in probes:
        groups.setdefault(playbook.plan(probe.name).group or probe.name, []).append(probe)

    def run_group(group: list[type[Probe]]) -> None:
        for probe in group:
            outcome = _run_one(probe, playbook.plan(probe.name), inputs, watcher)
            outcomes[probe.name] = outcome
            watcher.ended(outcome)

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for job in [pool.submit(run_group, group) for group in groups.values()]:
            job.result()
    return [outcomes[probe.name] for probe in probes]


def _run_one(
    probe: type[Probe], plan: ProbePlan, inputs: Mapping[str, InputTaken], watcher: Watcher
) -> Outcome:
    taken = {t.name: found for t in probe.takes if (found := input_for(t, inputs, plan))}
    lacking = [t.name for t in probe.takes if t.is_required and t.name not in taken]
    missing = tuple(plan.names.get(name, name) for name in lacking)
    if missing:
        return Outcome(probe, (), f"it needs {', '.join(missing)}", missing=missing)
    done: list[Evidence] = []
    try:
        for names in _sets(plan, taken):
            if done and _is_settled(probe, done):
                break
            bound = tuple(bind(t, taken[t.name]) for t in probe.takes if t.name in names)
            run = ProbeRun(probe.name, bound, plan.params)
            done.append(run_probe(run, _progress(watcher, probe.name)))
    except HypotreeError as error:
        return Outcome(probe, tuple(done), str(error), isinstance(error, UnreadableError))
    return Outcome(probe, tuple(done))


def input_for(taken: Input, inputs: Mapping[str, InputTaken], plan: ProbePlan) -> InputTaken | None:
    """What was taken for an input of a probe; a map stands in for a checkpoint only if it is one."""
    found = inputs.get(plan.names.get(taken.name, taken.name))
    if found is None or found.kind == taken.kind or taken.name == "draft":
        return found
    return found if taken.kind == "checkpoint" and _is_checkpoint(Path(found.path)) else None


def _is_checkpoint(path: Path) -> bool:
    return path.suffix == ".safetensors" or (path.is_dir() and any(path.glob("*.safetensors")))


def bind(taken: Input, found: InputTaken) -> BoundInput:
    """The input as the runner wants it; its kind is the probe's: a map can be asked for its files."""
    form = found.form if taken.role is Role.TRUTH else ""
    return BoundInput(taken.name, taken.kind, taken.role, found.path, form)


def _sets(plan: ProbePlan, taken: Mapping[str, InputTaken]) -> Iterator[frozenset[str]]:
    """The inputs of each run, without those that are not there; a set that adds nothing is left out."""
    seen: list[frozenset[str]] = []
    for names in plan.runs or (tuple(taken),):
        found = frozenset(names) & taken.keys()
        if not any(found <= earlier for earlier in seen):
            seen.append(found)
            yield found


def _is_settled(probe: type[Probe], done: Sequence[Evidence]) -> bool:
    decided = {f.fault for e in done for f in e.findings if f.verdict in _DECIDED}
    return all(fault.code in decided for fault in probe.decides)


def _progress(watcher: Watcher, probe: str) -> Callable[[int, int], None]:
    return lambda done, total: watcher.advanced(probe, done, total)
