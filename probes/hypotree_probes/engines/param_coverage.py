"""param-coverage: which tensors the engine would load, and which of its parameters stay empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.model.evidence import Finding, Table
from hypotree.model.verdict import Authority, Role
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree.probe.api import not_run
from hypotree_probes.engines import coverage_findings, coverage_words
from hypotree_probes.engines.coverage_facts import Coverage, NoCoverage, gather

_NEEDS: Final = ("engine",)
_ROWS: Final = 20


class ParamCoverage(Probe):
    """Decides every params.* code by running the engine's own load_weights, else by a rule file.

    Where the engine's source is at hand (a path, or a cached wheel) it is run, and is the
    source of truth (engines/harness). Else a rule file answers: inside a rule's range the
    engine is the source of truth still; outside of it the nearest rule answers as a HEURISTIC,
    rather than nothing: loaders change seldom, so it is mostly right and worth showing, and a
    heuristic opens no gate. INCONCLUSIVE is kept for where there is neither.
    """

    name: ClassVar[str] = "param-coverage"
    title: ClassVar[str] = "tensors that the engine drops, and parameters that it never fills"
    version: ClassVar[str] = "2"
    takes: ClassVar[tuple[Input, ...]] = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("engine", "engine", Role.TRUTH, "the engine that serves it, e.g. sglang@0.5.9"),
    )
    decides: ClassVar[tuple[Fault, ...]] = (
        Fault("params.renamed", "the engine knows these tensors by other names, and loads none",
              "rename-tensors", _NEEDS,
              explains=("params.dropped", "params.unwritten", "params.lm-head-missing")),
        Fault("params.dropped", "the engine has no parameter for tensors that were trained",
              needs=_NEEDS, explains=("acceptance.at-floor",),
              advice="serve with an engine or release whose draft class has these parameters"),
        Fault("params.unwritten", "parameters of the draft keep their start values",
              needs=_NEEDS, explains=("acceptance.at-floor",),
              advice="save the checkpoint again with these tensors, from the training state"),
        Fault("params.shape-mismatch", "tensors have other shapes than config.json asks for",
              needs=_NEEDS, explains=("acceptance.at-floor",),
              advice="use the config.json that the checkpoint was trained with"),
        Fault("params.lm-head-missing", "the draft has no head of its own and gets a wrong one",
              needs=_NEEDS, explains=("acceptance.at-floor",),
              advice="save the checkpoint again with lm_head.weight, from the training state"),
    )  # fmt: skip

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding for each params code."""
        draft, engine = context.need("draft", Checkpoint), context.get("engine", Engine)
        if engine is None:
            why = "give --engine, e.g. sglang@0.5.9: only it knows its parameters"
            return [not_run(fault.code, why) for fault in self.decides]
        found = gather(context, draft, engine)
        if isinstance(found, NoCoverage):
            context.summary = found.why
            return [
                Finding(fault.code, found.verdict, Authority.NONE, found.why)
                for fault in self.decides
            ]
        _report(context, found)
        return [
            coverage_findings.renamed(found),
            coverage_findings.dropped(found),
            coverage_findings.unwritten(found),
            coverage_findings.shape_mismatch(found),
            coverage_findings.lm_head_missing(found),
        ]

    def cases(self) -> Sequence[Case]:
        """Planted faults and healthy twins, at hidden size 8."""
        from hypotree_probes.engines.coverage_cases import CASES

        return CASES


def _report(context: ProbeContext, found: Coverage) -> None:
    ledger = found.ledger
    context.measure("tensors-used", len(ledger.used))
    context.measure("tensors-dropped", len(ledger.dropped))
    context.measure("parameters-unwritten", len(ledger.unwritten))
    context.summary = _summary(found)
    context.show(_table(found))


def _summary(found: Coverage) -> str:
    ledger = found.ledger
    total = len(found.files)
    empty = len(ledger.unwritten) + ledger.lacks_head
    filled = f"{ledger.parameters - empty} of {ledger.parameters} parameters are filled or shared"
    text = f"{found.engine} drops {len(ledger.dropped)} of {total} tensors, and {filled}"
    if found.sizes.architecture.startswith("speculators:") and found.engine.startswith("sglang"):
        # SGLang has no reader for the format; its users convert config.json by hand.
        text += f"; its speculators config is taken as converted to {found.rule.model_class}"
    return f"{text}; but {found.doubt}" if found.doubt else text


def _table(found: Coverage) -> Table:
    """A handful of rows, what is wrong first."""
    ledger = found.ledger
    rows = [(name, coverage_words.fate_of(found, name)) for name in ledger.dropped]
    rows += [("(none)", f"{gap.parameter}: not filled") for gap in ledger.unwritten]
    rows += list(ledger.used.items())
    rows += [(name, "the draft-to-target map") for name in ledger.maps]
    rows += [(name, f"passed over: {why}") for name, why in ledger.skipped.items()]
    if len(rows) > _ROWS:
        rows = [*rows[: _ROWS - 1], (f"and {len(rows) - _ROWS + 1} more", "")]
    return Table("tensors and parameters", ("tensor", "becomes"), tuple(rows))
