"""Is the fusion layer as wide as what it is handed, and is it run at all?

The founding incident's real cause: states of 7,168 where fc was trained on 21,504, and fc
skipped by a shape test without a message (facts/eagle3.md section 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.artifact.plain import plain
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext, not_run
from hypotree_probes.eagle3.draft import DraftFacts, draft_facts
from hypotree_probes.eagle3.fusion import Fusion, NoFusion, fusion_of
from hypotree_probes.eagle3.fusion_bypass import (
    BYPASSED,
    DISABLED,
    decide_bypassed,
    decide_disabled,
    sights,
)
from hypotree_probes.eagle3.fusion_width import MISMATCH, decide_width, show_widths, target_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_OBSERVED: Final = ("trace", "log", "sample", "engine")


class AuxWidth(Probe):
    """Compares fc's width with the target's, and looks whether fc is run."""

    name = "aux-width"
    title = "Width of the states that the fusion layer is handed"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("target", "checkpoint", Role.TRUTH, "the target: its config.json is enough"),
        Input("trace", "trace", Role.OBSERVATION, "a forward trace of the served drafter"),
        Input("log", "log", Role.OBSERVATION, "a server log with printed hidden-state shapes"),
        Input("sample", "sample", Role.OBSERVATION, "hidden states as the drafter was handed them"),
        Input("engine", "engine", Role.TRUTH, "the engine that serves it, e.g. sglang@0.5.9"),
    )
    decides = (
        Fault(
            MISMATCH,
            "the fusion layer is not as wide as the states of the layers that it joins",
            advice="make the config name the layers that the head was trained on, or retrain fc",
        ),
        Fault(
            BYPASSED,
            "the drafter is handed a single layer's states and its fusion layer is skipped",
            needs=_OBSERVED,
            explains=("acceptance.at-floor",),
            advice="make the target capture its auxiliary layers: serve with EAGLE3, not EAGLE; "
            "use_aux_hidden_state true; a target class that has set_eagle3_layers_to_capture",
        ),
        Fault(
            DISABLED,
            "the config switches off the capture that the fusion layer needs",
            explains=(BYPASSED,),
            advice="set eagle_config.use_aux_hidden_state to true, or remove it",
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Three findings; none of them looks at a tensor's values."""
        draft = context.need("draft", Checkpoint)
        config = draft.config()
        facts = draft_facts(config)
        if "Eagle" in facts.architecture and "Eagle3" not in facts.architecture:
            return _not_eagle3(context, facts)
        fusion = fusion_of(draft, facts)
        target = target_width(context.get("target", Checkpoint))
        if isinstance(fusion, NoFusion):
            return _without_fusion(context, fusion)
        seen = sights(context, fusion, config)
        show_widths(context, fusion, facts, target, seen)
        findings = (
            decide_width(fusion, facts, target),
            decide_bypassed(seen),
            decide_disabled(config, fusion, context.get("engine", Engine), seen),
        )
        context.summary = _summary(findings, fusion)
        return findings

    def cases(self) -> Sequence[Case]:
        """F09, F10, and the founding incident as seen by a trace, a log and a sample."""
        from hypotree_probes.eagle3.aux_width_cases import CASES

        return CASES


def _not_eagle3(context: ProbeContext, facts: DraftFacts) -> tuple[Finding, ...]:
    """EAGLE-1 heads have an fc too, but it joins the embedding and one state."""
    why = f"{plain(facts.architecture)} is no EAGLE-3 head: its fc joins an embedding and one state"
    context.summary = why
    return tuple(not_run(code, why) for code in (MISMATCH, BYPASSED, DISABLED))


def _without_fusion(context: ProbeContext, none: NoFusion) -> tuple[Finding, ...]:
    verdict = Verdict.REFUTED if none.is_sound else Verdict.INCONCLUSIVE
    authority = Authority.SOURCE_OF_TRUTH if none.is_sound else Authority.NONE
    where = (Locator("draft", tensor="fc.weight"),)
    context.summary = f"There is nothing to fuse: {none.why}."
    if not none.is_sound:
        context.summary = f"Cannot tell: {none.why}."
    codes = (MISMATCH, BYPASSED, DISABLED)
    return tuple(Finding(code, verdict, authority, none.why, where) for code in codes)


def _summary(findings: Sequence[Finding], fusion: Fusion) -> str:
    mismatch, bypassed, disabled = (f.verdict is Verdict.CONFIRMED for f in findings)
    if bypassed:
        wants = f"fc never runs: it wants states {fusion.takes} wide"
        return f"{wants} and is handed {fusion.gives}, a single layer's."
    if mismatch:
        return f"fc does not fit: {findings[0].why}."
    if disabled:
        return f"The config switches off what fc needs: {findings[2].why}."
    return f"No fault of width found; {findings[1].why}."
