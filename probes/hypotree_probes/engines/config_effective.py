"""config-effective: which fields of config.json this engine reads for this draft, and what it takes.

The engine's own class is built with a config object that watches, and run once on the meta
device; its resolver of the aux fields is run on the same object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.artifact.training_config import TrainingConfig
from hypotree.model.evidence import Finding, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree.probe.api import not_run
from hypotree_probes.engines import config_verdicts as verdicts
from hypotree_probes.engines.adapters import ADAPTERS
from hypotree_probes.engines.asking import BLIND, ask_about_draft, can_ask, flat_config, show_run
from hypotree_probes.engines.harness.client import HarnessError

_ROWS: Final = 40


class ConfigEffective(Probe):
    """Decides by what was read, not by a table of what ought to be."""

    name = "config-effective"
    title = "Which config fields the engine reads for this draft, and which it ignores"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("engine", "engine", Role.TRUTH, "the engine's source, e.g. sglang:PATH"),
        Input("train", "training-config", Role.TRUTH, "the config that training used"),
    )
    decides = (
        Fault(verdicts.NORM_IGNORED, "a norm that training used is not in the engine's forward",
              needs=("engine",), explains=("trace.stage-diverges", "acceptance.at-floor"),
              advice="serve with an engine that reads the flag, or train without it"),
        Fault(verdicts.NORM_OUTPUT, "the recurrent state is served after a norm and trained before",
              needs=("engine", "train"), explains=("acceptance.position-collapse",),
              advice="remove norm_output from the served config.json"),
        Fault(verdicts.ROPE, "the engine rotates by another base than config.json says",
              needs=("engine",), explains=("trace.stage-diverges", "acceptance.at-floor"),
              advice="write rope_theta at the top of config.json, or what this engine reads"),
        Fault(verdicts.IGNORED, "the engine does not read a field that changes the draft",
              needs=("engine",),
              advice="put the field where this engine looks for it"),
    )  # fmt: skip

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding for each code."""
        codes = [fault.code for fault in self.decides]
        draft, engine = context.need("draft", Checkpoint), context.get("engine", Engine)
        if engine is None:
            return [not_run(code, "give --engine: only it knows what it reads") for code in codes]
        if not can_ask(engine):
            why = f"the source of {engine.locator} is not at hand; give {engine.name}:PATH"
            return [Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, why) for code in codes]
        tasks = {
            "rope": True,
            "widths": _widths(draft),
            "resolve": list(ADAPTERS[engine.name].resolvers),
        }
        try:
            found = ask_about_draft(engine, draft, tasks)
        except HarnessError as failure:
            verdict = Verdict.INVALID if failure.kind in BLIND else Verdict.INCONCLUSIVE
            why = f"{engine.locator} could not be run: {failure.why} {failure.where}".rstrip()
            return [Finding(code, verdict, Authority.NONE, why) for code in codes]
        show_run(context, engine, found)
        _show_reads(context, draft, found["config_reads"])
        config, _ = flat_config(draft.config())
        train = context.get("train", TrainingConfig)
        asked = verdicts.Asked(
            f"{engine.name} {engine.version()}".strip(), config, found["config_reads"],
            found["rope"], train.mapping() if train else None,
        )  # fmt: skip
        findings = [
            verdicts.norm_ignored(asked),
            verdicts.norm_output(asked),
            verdicts.rope(asked),
            verdicts.field_ignored(asked),
        ]
        wrong = [f.why for f in findings if f.verdict is Verdict.CONFIRMED]
        context.summary = wrong[0] if wrong else "every field that matters is read as it was meant"
        return findings

    def cases(self) -> Sequence[Case]:
        """F17, F20, and fields in places where nobody looks."""
        from hypotree_probes.engines.config_cases import CASES

        return CASES


def _widths(draft: Checkpoint) -> list[int]:
    """What fc takes, and a single state: between them the forward reads all that it ever does."""
    layout = draft.layout("fc.weight")
    hidden = flat_config(draft.config())[0].get("hidden_size")
    wide = layout.shape[-1] if layout and len(layout.shape) == 2 else None
    return [width for width in (wide, hidden) if isinstance(width, int)]


def _show_reads(context: ProbeContext, draft: Checkpoint, reads: Mapping[str, Any]) -> None:
    given = flat_config(draft.config())[0]
    rows = [(f, r["outcome"], str(r["value"])[:40], r["where"]) for f, r in reads.items()]
    rows += [(f, "never read", str(given[f])[:40], "") for f in given if f not in reads]
    columns = ("field", "outcome", "value", "read in")
    context.show(Table("What the engine reads of config.json", columns, tuple(rows[:_ROWS])))
