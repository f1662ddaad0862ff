"""delegation: can this target's class be told to capture, or does the telling come to nothing?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree_probes.engines.capturing import Capture, NoCapture, capture, places

MISSING: Final = "aux.delegation-missing"


class Delegation(Probe):
    """Calls the target class's own `set_eagle3_layers_to_capture`, through all inheritance."""

    name = "delegation"
    title = "Whether the target's class passes the capture of layers on"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("engine", "engine", Role.TRUTH, "the engine's source, e.g. sglang:PATH"),
        Input("target", "checkpoint", Role.TRUTH, "the target: its config.json is enough"),
    )
    decides = (
        Fault(
            MISSING,
            "the target's class cannot be told which layers to capture",
            needs=("engine",),
            explains=("fusion.bypassed",),
            advice="give the wrapper a set_eagle3_layers_to_capture that calls its language "
            "model's, or serve with a release that has one",
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding."""
        found = capture(context)
        if isinstance(found, NoCapture):
            context.summary = found.why
            return found.findings(MISSING)
        verdict, why = _decide(found)
        context.summary = why
        authority = Authority.NONE if verdict.is_open else Authority.SOURCE_OF_TRUTH
        truth = () if verdict.is_open else ("engine", "target")
        return [Finding(MISSING, verdict, authority, why, places(found), truth)]

    def cases(self) -> Sequence[Case]:
        """F31: no setter, and one whose guard turns a missing inner setter into silence."""
        from hypotree_probes.engines.capture_cases import DELEGATION_CASES

        return DELEGATION_CASES


def _decide(found: Capture) -> tuple[Verdict, str]:
    name = f"{found.target_class} of {found.engine}"
    if found.outcome == "off":
        why = f"use_aux_hidden_state is false in {found.read_in}: {name} is never told to capture"
        return Verdict.NOT_EXERCISED, why
    if found.outcome == "none":
        why = f"{name} has no set_eagle3_layers_to_capture, nor has any class it derives from"
        return Verdict.CONFIRMED, f"{why}: EAGLE3 stops at start, unless a caller guards the call"
    if found.outcome == "silent":
        why = f"set_eagle3_layers_to_capture of {name} was run and set nothing, without a message"
        return Verdict.CONFIRMED, f"{why}: no layer is captured, the last state is handed over"
    if found.outcome == "raises":
        why = f"set_eagle3_layers_to_capture of {name} stops the engine: {found.why}"
        return Verdict.CONFIRMED, why
    count = len(found.layers)
    return Verdict.REFUTED, f"{name} was told, and captures {count} layers"
