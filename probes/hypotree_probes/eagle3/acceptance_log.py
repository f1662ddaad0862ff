"""What a server's own log says about acceptance: the symptom as a number.

The floor is absolute (cases N6, Q4): an accept length below 1.10 is no acceptance, whatever the
accept rate or a stored baseline says. Faults found here are symptoms; no fix hangs on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.engine import Engine
from hypotree.artifact.log import Log
from hypotree.model.evidence import Finding, Locator, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext, not_run
from hypotree_probes.eagle3.acceptance_lines import read_line
from hypotree_probes.eagle3.acceptance_prometheus import Prometheus
from hypotree_probes.eagle3.acceptance_rate import rate_note
from hypotree_probes.eagle3.acceptance_suspicions import (
    DECLINES,
    TOO_GOOD,
    decide_declines,
    decide_too_good,
)
from hypotree_probes.eagle3.acceptance_tally import Tally
from hypotree_probes.eagle3.acceptance_verdicts import (
    AT_FLOOR,
    COLLAPSE,
    FLOOR,
    NOT_EXERCISED,
    decide_collapse,
    decide_exercised,
    decide_floor,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Lines between two reports of progress.
_TICK: Final = 20_000


class AcceptanceLog(Probe):
    """Reads acceptance counters of SGLang, vLLM or TensorRT-LLM from a log or a metrics dump."""

    name = "acceptance-log"
    title = "Acceptance as the server logged it"
    version = "1"
    takes = (
        Input(
            "log",
            "log",
            Role.OBSERVATION,
            "the server's log, or a dump of /metrics",
            is_required=True,
        ),
        Input("engine", "engine", Role.TRUTH, "the engine that wrote it, e.g. sglang@0.5.9"),
    )
    decides = (
        Fault(
            AT_FLOOR, "almost no draft token is accepted", fix="", needs=("log",), is_symptom=True
        ),
        Fault(NOT_EXERCISED, "nothing was drafted at all", fix="", needs=("log",), is_symptom=True),
        Fault(
            TOO_GOOD,
            "next to every draft token is accepted",
            fix="",
            is_symptom=True,
            is_guess=True,
        ),
        Fault(
            DECLINES,
            "the accept length falls in the course of the log",
            fix="",
            is_symptom=True,
            is_guess=True,
        ),
        Fault(
            COLLAPSE,
            "the first draft position is accepted and later ones are not",
            fix="",
            needs=("log",),
            is_symptom=True,
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Five findings, all about the whole log."""
        log = context.need("log", Log)
        tally = _tally(context, log)
        _report(context, tally)
        if not tally.lines:
            return _silent(context, tally)
        where = (Locator("log", file=log.name, line=tally.first_line),)
        note = rate_note(tally, context.get("engine", Engine))
        return (
            decide_floor(tally, where, note),
            decide_exercised(tally, where),
            decide_too_good(tally, where),
            decide_declines(tally, where),
            decide_collapse(tally, where),
        )

    def cases(self) -> Sequence[Case]:
        """Each format at its floor and alive."""
        from hypotree_probes.eagle3.acceptance_cases import CASES

        return CASES


def _report(context: ProbeContext, tally: Tally) -> None:
    """Measures, the table, and the sentence that people read."""
    context.measure("lines", tally.lines)
    rows: list[tuple[str, float | int]] = [("lines with counters", tally.lines)]
    for name, value in (("accept_length", tally.length), ("accept_rate", tally.rate)):
        if value is not None:
            context.measure(name, round(value, 4))
            rows.append((name.replace("_", " "), round(value, 4)))
    if ends := tally.trend.ends():
        for name, value in zip(("first quarter", "last quarter"), ends, strict=True):
            rows.append((f"accept length, {name}", round(value, 4)))
    rows += [(f"position {k}", round(v, 4)) for k, v in enumerate(tally.positions[:16], start=1)]
    context.show(Table("Acceptance", ("what", "value"), tuple(rows)))
    if tally.is_idle:
        context.summary = "Nothing was drafted, so this log says nothing about acceptance."
    elif tally.length is not None:
        word = "at the floor" if tally.length < FLOOR else "alive"
        context.summary = f"Accept length {tally.length:.2f}: acceptance is {word}."


def _tally(context: ProbeContext, log: Log) -> Tally:
    tally, metrics = Tally(), Prometheus()
    done, total = 0, log.tree.open(log.name).size
    for number, line in log.lines():
        done += len(line) + 1
        if number % _TICK == 0:
            context.advance(min(done, total), total)
        if ":spec_" in line and metrics.take(number, line):
            continue
        reading = read_line(line)
        if reading is not None:
            tally.add(number, reading)
        elif "Decode batch" in line:
            tally.decode_lines += 1
    for reading in metrics.readings():
        tally.add(metrics.first_line, reading)
    return tally


def _silent(context: ProbeContext, tally: Tally) -> tuple[Finding, ...]:
    why = "no line of it holds acceptance counters of SGLang, vLLM or TensorRT-LLM"
    if tally.decode_lines:
        why = f"{tally.decode_lines} SGLang decode lines have no accept length: speculation is off"
    context.summary = f"Cannot tell: {why}."
    return (
        Finding(AT_FLOOR, Verdict.INCONCLUSIVE, Authority.NONE, why),
        Finding(NOT_EXERCISED, Verdict.INCONCLUSIVE, Authority.NONE, why),
        *(not_run(code, why) for code in (TOO_GOOD, DECLINES, COLLAPSE)),
    )
