"""Whether `fc` fired in a forward trace, and on what.

The target's states go through `fc` once, in the first draft step (SGLang calls that forward
`draft_extend`); the recurrent steps (`draft_decode`) feed the drafter's own state back and
rightly skip it (facts/eagle3.md section 4). So silence in `draft_decode` says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.model.evidence import Locator
from hypotree.model.verdict import Verdict
from hypotree_probes.eagle3.fusion_sights import Sight

if TYPE_CHECKING:
    from hypotree.artifact.trace import Shape, Trace, TraceRecord
    from hypotree_probes.eagle3.fusion import Fusion

_RECURRENT: Final = "draft_decode"
#: Modules that see the drafter's input states, most telling first.
_ENTRANCES: Final = ("hidden_norm", "midlayer", "layers.0")


def from_trace(trace: Trace, fusion: Fusion) -> Sight:
    """Whether fc fired on the target's states."""
    record = trace.record()
    if record.state == "dead":
        return _open(Verdict.INVALID, "no module fired at all: such a trace is evidence of nothing")
    if record.fired("fc"):
        return _fired(record, trace, fusion)
    if not record.hooked("fc"):
        return _open(Verdict.INCONCLUSIVE, "fc was not hooked, so its silence says nothing")
    if record.state == "cut-off":
        return _open(Verdict.INCONCLUSIVE, "the trace is cut off, so what is missing says nothing")
    return _silent(record, trace, fusion)


def _fired(record: TraceRecord, trace: Trace, fusion: Fusion) -> Sight:
    calls = record.fired("fc")
    widths = [shapes[0][-1] for i in calls if (shapes := record.calls[i].in_shapes) and shapes[0]]
    # A linear layer refuses any other width, so a call without shapes still shows that it fits.
    width = fusion.takes if fusion.takes in widths or not widths else widths[0]
    line = record.lines[calls[0]]
    where = (Locator("trace", file=trace.name, tensor=record.calls[calls[0]].module, line=line),)
    why = f"fc fired {len(calls)} times on states {width} wide, first in line {line}"
    if width != fusion.takes:
        why = f"{why}, but the file's fc takes {fusion.takes}: a trace of another draft?"
        return Sight("trace", Verdict.INCONCLUSIVE, why, width, where)
    return Sight("trace", Verdict.REFUTED, why, width, where)


def _silent(record: TraceRecord, trace: Trace, fusion: Fusion) -> Sight:
    """fc was hooked and never fired in a whole trace: was it ever its turn?"""
    drafts = [i for i, call in enumerate(record.calls) if call.phase.startswith("draft")]
    first = [i for i in drafts if record.calls[i].phase != _RECURRENT]
    if not first:
        found = f"only {_RECURRENT} calls" if drafts else "no call of a draft phase"
        why = f"{found}: the target's states were never handed to the drafter in this trace"
        return _open(Verdict.NOT_EXERCISED, why)
    at = _entrance(record, first, fusion)
    if at is None:
        why = f"fc never fired in {len(first)} first-step calls, but none shows the states' width"
        return _open(Verdict.INCONCLUSIVE, why)
    index, width = at
    return _bypassed(record, trace, fusion, index, width)


def _bypassed(record: TraceRecord, trace: Trace, fusion: Fusion, index: int, width: int) -> Sight:
    call, line = record.calls[index], record.lines[index]
    where = (Locator("trace", file=trace.name, tensor=call.module, line=line),)
    what = f"{plain(call.module)} took states {width} wide in {plain(call.phase)} (line {line})"
    if width != fusion.gives:
        why = f"{what}, and fc, which takes {fusion.takes}, did not fire: was another fc hooked?"
        return Sight("trace", Verdict.INCONCLUSIVE, why, width, where)
    why = f"fc was hooked and never fired in {len(record.calls)} calls; "
    why += f"{what}, fc wants {fusion.takes}"
    return Sight("trace", Verdict.CONFIRMED, why, width, where)


def _entrance(record: TraceRecord, calls: list[int], fusion: Fusion) -> tuple[int, int] | None:
    """The call that shows best how wide the states were, and the width."""
    shown = [(i, w) for i in calls if (w := _state_width(record.calls[i].in_shapes, fusion))]
    for name in _ENTRANCES:
        for index, width in shown:
            module = record.calls[index].module
            if module == name or module.endswith(f".{name}"):
                return index, width
    # Attention takes 2 x hidden and may look like two joined states: only the plain width counts.
    return next(((i, w) for i, w in shown if w == fusion.gives), None)


def _state_width(shapes: tuple[Shape, ...], fusion: Fusion) -> int | None:
    widths = {shape[-1] for shape in shapes if len(shape) > 1}
    return next((w for w in (fusion.takes, fusion.gives) if w in widths), None)


def _open(verdict: Verdict, why: str) -> Sight:
    return Sight("trace", verdict, why)
