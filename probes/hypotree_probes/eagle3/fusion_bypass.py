"""Decide `fusion.bypassed` and `aux.capture-disabled` from all that was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.engine import Engine
from hypotree.artifact.log import Log
from hypotree.artifact.sample import Sample
from hypotree.artifact.trace import Trace
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import ProbeContext, not_run
from hypotree_probes.eagle3.fusion import FLAG, Fusion, engine_label, flag_off_at, obeys_flag
from hypotree_probes.eagle3.fusion_sights import Sight, from_log, from_sample
from hypotree_probes.eagle3.fusion_trace import from_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BYPASSED: Final = "fusion.bypassed"
DISABLED: Final = "aux.capture-disabled"
_DECISIVE: Final = (Verdict.CONFIRMED, Verdict.REFUTED)
#: Which of several open answers to give: a blind instrument first.
_OPEN: Final = (Verdict.INVALID, Verdict.INCONCLUSIVE, Verdict.NOT_EXERCISED)


def sights(
    context: ProbeContext, fusion: Fusion, config: Mapping[str, object]
) -> tuple[Sight, ...]:
    """What each given observation says; one that says nothing is left out."""
    trace, log = context.get("trace", Trace), context.get("log", Log)
    sample, engine = context.get("sample", Sample), context.get("engine", Engine)
    found = (
        from_trace(trace, fusion) if trace else None,
        from_log(log, fusion) if log else None,
        from_sample(sample, fusion) if sample else None,
        _from_engine(engine, fusion, config) if engine else None,
    )
    return tuple(sight for sight in found if sight)


def decide_bypassed(seen: Sequence[Sight]) -> Finding:
    """One answer from all sights; INCONCLUSIVE if two of them contradict each other."""
    if not seen:
        return not_run(BYPASSED, "nothing that was given shows the width of the handed states")
    decisive = [sight for sight in seen if sight.verdict in _DECISIVE]
    if len({sight.verdict for sight in decisive}) > 1:
        why = "the observations disagree: " + "; ".join(f"{s.source}: {s.why}" for s in decisive)
        return Finding(BYPASSED, Verdict.INCONCLUSIVE, Authority.NONE, why, _places(decisive))
    if not decisive:
        first = min(seen, key=lambda sight: _OPEN.index(sight.verdict))
        return Finding(BYPASSED, first.verdict, Authority.NONE, first.why, first.locators)
    why = "; ".join(sight.why for sight in decisive)
    truth = tuple(sight.source for sight in decisive)
    verdict = decisive[0].verdict
    return Finding(BYPASSED, verdict, Authority.SOURCE_OF_TRUTH, why, _places(decisive), truth)


def decide_disabled(
    config: Mapping[str, object], fusion: Fusion, engine: Engine | None, seen: Sequence[Sight]
) -> Finding:
    """Whether the config switches off a capture that fc needs."""
    field = flag_off_at(config)
    if not field:
        return _disabled("", Verdict.REFUTED, f"{FLAG} is not false; true is the engines' default")
    if not fusion.narrows:
        return _disabled(field, Verdict.REFUTED, f"{field} is false, and fc takes a single state")
    why = f"{field} is false, but fc joins states to {fusion.takes} and gives {fusion.gives}"
    watched = [s for s in seen if s.source != "engine" and s.verdict in _DECISIVE]
    obeys = obeys_flag(engine, field) if engine else None
    if engine is None or obeys is None:
        return _by_watching(field, why, watched)
    return _by_engine(field, f"{why}; {engine_label(engine)}", watched, obeys=obeys)


def _by_engine(field: str, why: str, watched: Sequence[Sight], *, obeys: bool) -> Finding:
    if not obeys:
        return _disabled(field, Verdict.REFUTED, f"{why} does not read it there", "engine")
    against = next((s for s in watched if s.verdict is Verdict.REFUTED), None)
    if against:
        why = f"{why} reads it, and yet {against.source} shows: {against.why}"
        return _finding(Verdict.INCONCLUSIVE, Authority.NONE, why, field)
    return _disabled(field, Verdict.CONFIRMED, f"{why} reads it and captures nothing", "engine")


def _by_watching(field: str, why: str, watched: Sequence[Sight]) -> Finding:
    """No engine that is known to read the flag: only what was seen can tell."""
    if len({sight.verdict for sight in watched}) == 1:
        sources = tuple(sight.source for sight in watched)
        return _disabled(field, watched[0].verdict, f"{why}; {watched[0].why}", *sources)
    why = f"{why}; whether the engine reads the flag is not known"
    return _finding(Verdict.CONFIRMED, Authority.HEURISTIC, why, field)


def _from_engine(engine: Engine, fusion: Fusion, config: Mapping[str, object]) -> Sight | None:
    """An engine that obeys the flag hands over the final state only: no observation is needed."""
    field = flag_off_at(config)
    if not (field and fusion.narrows and obeys_flag(engine, field)):
        return None
    why = f"{engine_label(engine)} obeys {field} false: it hands over states {fusion.gives} wide"
    why = f"{why}, and fc, which takes {fusion.takes}, is not run"
    where = Locator("draft", file="config.json", field=field)
    return Sight("engine", Verdict.CONFIRMED, why, fusion.gives, (where,))


def _disabled(field: str, verdict: Verdict, why: str, *truth: str) -> Finding:
    return _finding(verdict, Authority.SOURCE_OF_TRUTH, why, field, *truth)


def _finding(verdict: Verdict, authority: Authority, why: str, field: str, *truth: str) -> Finding:
    where = Locator("draft", file="config.json", field=field or FLAG)
    return Finding(DISABLED, verdict, authority, why, (where,), truth)


def _places(seen: Sequence[Sight]) -> tuple[Locator, ...]:
    return tuple(place for sight in seen for place in sight.locators)
