"""Is a trace alive? Before anybody reasons from what did not fire in it.

A hook that was set on the wrong process, after graph capture or on a copy of the module never fires
(failures J11; vllm#52107), and a trace that was cut off lacks whatever came later. Neither is
evidence of absence; this probe says so by name instead of letting silence look like a finding.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.artifact.trace import Trace, TraceRecord
from hypotree.model.evidence import Finding, Locator, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext

if TYPE_CHECKING:
    from collections.abc import Sequence

DEAD: Final = "trace.dead"
CUT_OFF: Final = "trace.cut-off"
_ROWS: Final = 40


class TraceCanary(Probe):
    """Counts what fired in a trace, and whether it has an end."""

    name = "canary"
    title = "Liveness of a recorded trace"
    version = "1"
    takes = (Input("trace", "trace", Role.SUBJECT, "a forward trace", is_required=True),)
    decides = (
        Fault(
            DEAD,
            "no hook of the trace fired, so it is evidence of nothing",
            advice="set the hooks in the worker's own process, after the model is built and with "
            "graphs off, and record again",
        ),
        Fault(
            CUT_OFF,
            "the trace has no end, so what is missing in it says nothing",
            advice="let the process end the trace before it stops, and record again",
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Two findings, by the definition of a whole trace."""
        trace = context.need("trace", Trace)
        record = trace.record()
        counts = Counter(call.module for call in record.calls)
        silent = [hook for hook in record.start.hooks if not record.fired(hook)]
        context.measure("calls", len(record.calls))
        context.measure("silent_hooks", len(silent))
        rows = [(plain(name), count) for name, count in counts.most_common(_ROWS)]
        rows += [(plain(name), 0) for name in silent[: _ROWS - len(rows)]]
        context.show(Table("Calls", ("module", "calls"), tuple(rows)))
        findings = (_dead(record, trace.name), _cut_off(record, trace.name))
        context.summary = f"{next((f.why for f in findings if _is_so(f)), findings[0].why)}."
        return findings

    def cases(self) -> Sequence[Case]:
        """Q1, and a trace whose process was killed."""
        from hypotree_probes.eagle3.trace_canary_cases import CASES

        return CASES


def _dead(record: TraceRecord, name: str) -> Finding:
    hooks = len(record.start.hooks)
    if record.calls:
        why = f"{len(record.calls)} calls of {len({c.module for c in record.calls})} modules fired"
        return _finding(DEAD, why, name, is_so=False)
    return _finding(DEAD, f"{hooks} hooks were set and none of them ever fired", name, is_so=True)


def _cut_off(record: TraceRecord, name: str) -> Finding:
    """A dead trace is whole if its end says that it saw no call."""
    if record.state == "cut-off" or not record.has_end:
        why = "there is no end, or it counts other calls than there are: the trace was cut off"
        return _finding(CUT_OFF, why, name, is_so=True)
    return _finding(CUT_OFF, f"its end counts the {len(record.calls)} calls that are there", name,
                    is_so=False)  # fmt: skip


def _is_so(finding: Finding) -> bool:
    return finding.verdict is Verdict.CONFIRMED


def _finding(code: str, why: str, name: str, *, is_so: bool) -> Finding:
    verdict = Verdict.CONFIRMED if is_so else Verdict.REFUTED
    where = (Locator("trace", file=name),)
    return Finding(code, verdict, Authority.SOURCE_OF_TRUTH, why, where)
