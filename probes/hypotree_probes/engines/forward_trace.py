"""forward-trace: the engine's own forward on this draft, module by module.

Run on the meta device at the width of training and at the width that serving hands over
(which modules fire, on which shapes), and on the real weights beside the plain-torch reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.artifact.trace import Trace
from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree.probe.api import not_run
from hypotree_probes.engines import forward_verdicts as verdicts
from hypotree_probes.engines.asking import BLIND, UNANSWERED
from hypotree_probes.engines.forward_run import Forward, run_forward
from hypotree_probes.engines.harness.client import HarnessError

_CODES: Final = (
    verdicts.NOT_FIRED, verdicts.DIVERGES, verdicts.NONFINITE, verdicts.CONSTANT, verdicts.BLIND,
)  # fmt: skip


class ForwardTrace(Probe):
    """Runs the engine; a recorded trace may be given to be checked for life."""

    name = "forward-trace"
    title = "The engine's own forward: which modules fire, and where it leaves the reference"
    version = "1"
    time_limit = 900.0
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("engine", "engine", Role.TRUTH, "the engine's source, e.g. sglang:PATH"),
        Input("target", "checkpoint", Role.TRUTH, "the target: its config.json is enough"),
        Input("trace", "trace", Role.OBSERVATION, "a trace of the running engine"),
    )
    decides = (
        Fault(verdicts.NOT_FIRED, "the fusion layer does not run on what the engine hands over",
              needs=("engine",), explains=("fusion.bypassed", "acceptance.at-floor"),
              advice="make the target capture its layers: see aux.delegation-missing"),
        Fault(verdicts.DIVERGES, "the engine computes another function than training did",
              needs=("engine",), explains=("acceptance.at-floor",),
              advice="the first stage that diverges says where to look"),
        Fault(verdicts.NONFINITE, "the forward makes NaN or infinite values", needs=("engine",),
              advice="see tensor.nonfinite for the weight that brings them in"),
        Fault(verdicts.CONSTANT, "the logits do not depend on what is put in", needs=("engine",),
              advice="see params.unwritten and tensor.all-zero"),
        Fault(verdicts.BLIND, "no hook fired: the trace is evidence of nothing",
              needs=("engine", "trace"), advice="record again with the hooks' own canary seen"),
    )  # fmt: skip

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding for each code."""
        trace = context.get("trace", Trace)
        alive = verdicts.from_trace(trace) if trace else None
        if not context.has("engine"):
            why = "give --engine: its forward is what is run"
            found = [not_run(code, why) for code in _CODES[:-1]]
            return [*found, alive or not_run(verdicts.BLIND, "give --trace or --engine")]
        try:
            forward = run_forward(context)
        except HarnessError as failure:
            return _failed(context, failure, alive)
        context.summary = verdicts.summary(forward)
        return _decide(forward, alive)

    def cases(self) -> Sequence[Case]:
        """A target that captures nothing, a swapped join, NaN, zeros, a dead trace."""
        from hypotree_probes.engines.forward_cases import CASES

        return CASES


def _decide(forward: Forward, alive: Finding | None) -> list[Finding]:
    blind = verdicts.hooks_fired(forward)
    if blind.verdict is Verdict.CONFIRMED:
        why = "no hook fired in the engine's forward"
        return [
            *(Finding(code, Verdict.INVALID, Authority.NONE, why) for code in _CODES[:-1]),
            blind,
        ]
    return [
        verdicts.not_fired(forward),
        verdicts.diverges(forward),
        verdicts.nonfinite(forward),
        verdicts.constant(forward),
        alive or blind,
    ]


def _failed(context: ProbeContext, failure: HarnessError, alive: Finding | None) -> list[Finding]:
    engine = context.need("engine", Engine)
    context.need("draft", Checkpoint)
    why = f"{engine.locator} could not be run: {failure.why} {failure.where}".rstrip()
    context.summary = why
    is_blind = failure.kind in BLIND and failure.kind not in UNANSWERED
    verdict = Verdict.INVALID if is_blind else Verdict.INCONCLUSIVE
    found = [Finding(code, verdict, Authority.NONE, why) for code in _CODES]
    return [*found[:-1], alive or found[-1]]
