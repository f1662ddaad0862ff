"""The verdict on each trace.* code, from the engine's own forward."""

from __future__ import annotations

from typing import Final

from hypotree.artifact.plain import plain
from hypotree.artifact.trace import Trace
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree_probes.engines.forward_run import Forward, is_fc

NOT_FIRED: Final = "trace.module-not-fired"
DIVERGES: Final = "trace.stage-diverges"
NONFINITE: Final = "trace.nonfinite"
CONSTANT: Final = "trace.constant-logits"
BLIND: Final = "trace.hook-never-fired"
_TRUTH: Final = ("engine",)
#: Logits that vary less than this over positions, beside their size, do not vary.
_STILL: Final = 1e-6


def from_trace(trace: Trace) -> Finding:
    """Whether a recorded trace is alive."""
    record = trace.record()
    where = (Locator("trace", file=trace.name),)
    if record.state == "dead":
        why = f"{len(record.start.hooks)} hooks were set and none fired: evidence of nothing"
        return Finding(BLIND, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, where, ("trace",))
    why = f"{len(record.calls)} calls were recorded ({record.state})"
    return Finding(BLIND, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, where, ("trace",))


def hooks_fired(forward: Forward) -> Finding:
    """Whether the harness's own hooks fired at all."""
    total = sum(len(entry["events"]) for entry in forward.widths.values())
    if total:
        return _refuted(BLIND, f"the hooks fired {total} times")
    return _confirmed(BLIND, "not one hook fired in the engine's forward")


def not_fired(forward: Forward) -> Finding:
    """fc, at the width that the engine hands over."""
    if not forward.takes:
        why = "the checkpoint has no fc.weight"
        return Finding(NOT_FIRED, Verdict.NOT_EXERCISED, Authority.NONE, why)
    trained = forward.widths[forward.takes]
    if not _fires(trained):
        why = trained.get("raised") or "it ran without it"
        return _confirmed(NOT_FIRED, f"fc does not fire even at {forward.takes} wide: {why}")
    if forward.handed is None:
        why = f"fc fires on states {forward.takes} wide, as trained; {forward.handed_why}"
        return _refuted(NOT_FIRED, why)
    handed = forward.widths[forward.handed]
    if _fires(handed):
        return _refuted(NOT_FIRED, f"fc fires on {forward.handed} wide: {forward.handed_why}")
    raised = f"; the forward stops: {handed['raised']}" if handed.get("raised") else ""
    why = f"{forward.engine} hands over {forward.handed} wide ({forward.handed_why}), where fc "
    why += f"takes {forward.takes}: run so, fc does not fire{raised or ', without a message'}"
    if forward.handed_why.startswith("by --param"):
        return Finding(NOT_FIRED, Verdict.CONFIRMED, Authority.HEURISTIC, why, truth=_TRUTH)
    return _confirmed(NOT_FIRED, why)


def diverges(forward: Forward) -> Finding:
    """The first stage that leaves the reference."""
    if forward.values is None:
        return _not_run_on_values(DIVERGES, forward)
    compared = forward.values.get("compared")
    if compared is None:
        said = plain(str(forward.values.get("uncomparable", "")))
        if not said:
            why = "a draft of this size is run, and not compared: the reference is float32"
            return Finding(DIVERGES, Verdict.NOT_EXERCISED, Authority.NONE, why)
        why = f"the reference cannot be run: {said}"
        return Finding(DIVERGES, Verdict.INCONCLUSIVE, Authority.NONE, why)
    first, bound = compared["diverges"], compared["tolerance"]
    if not first:
        worst = max(row["difference"] for row in compared["stages"])
        why = f"every stage equals the reference: at most {worst:.1e} of its largest value, "
        return _refuted(DIVERGES, f"{why}{bound:.0e} is allowed")
    row = next(row for row in compared["stages"] if row["stage"] == first)
    how = row["why"] or f"off by {row['difference']:.1e} of its largest value"
    why = f"{forward.engine} leaves the reference at stage {first}: {how}, {bound:.0e} is allowed"
    return _confirmed(DIVERGES, why)


def nonfinite(forward: Forward) -> Finding:
    """NaN or infinity in any module's output."""
    if forward.values is None:
        return _not_run_on_values(NONFINITE, forward)
    bad = [call["module"] for call in forward.values["events"] if call.get("finite") is False]
    if bad:
        return _confirmed(NONFINITE, f"{plain(bad[0])} is the first of {len(bad)} with NaN or inf")
    if not forward.values["finite"]:
        return _confirmed(NONFINITE, "the logits hold NaN or inf: lm_head brings them in")
    return _refuted(NONFINITE, "every module's output is finite")


def constant(forward: Forward) -> Finding:
    """Logits that are the same at every position."""
    if forward.values is None:
        return _not_run_on_values(CONSTANT, forward)
    if not forward.values["finite"]:
        why = "the logits are not finite: see trace.nonfinite"
        return Finding(CONSTANT, Verdict.NOT_EXERCISED, Authority.NONE, why)
    spread = forward.values["spread"]
    if spread < _STILL:
        return _confirmed(CONSTANT, f"the logits vary by {spread:.1e} over positions: not at all")
    return _refuted(CONSTANT, f"the logits vary by {spread:.1e} over positions")


def summary(forward: Forward) -> str:
    """One line: where fc fires."""
    said = [f"{w}: {'fires' if _fires(e) else 'silent'}" for w, e in forward.widths.items()]
    return f"{forward.engine}: fc by width of the states: {', '.join(said)}"


def _fires(entry: object) -> bool:
    events = entry["events"] if isinstance(entry, dict) else []
    return any(is_fc(call["module"]) for call in events)


def _not_run_on_values(code: str, forward: Forward) -> Finding:
    return Finding(code, Verdict.NOT_EXERCISED, Authority.NONE, forward.not_valued)


def _confirmed(code: str, why: str) -> Finding:
    return Finding(code, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, truth=_TRUTH)


def _refuted(code: str, why: str) -> Finding:
    return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, truth=_TRUTH)
