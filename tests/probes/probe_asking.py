"""Run a probe on artifacts by path, as a command would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hypotree.artifact.kinds import open_artifact
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.canary import check_case
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe

if TYPE_CHECKING:
    from pathlib import Path

    from hypotree.model.evidence import Evidence
    from hypotree.probe.api import Case, Probe

TRUTH, GUESS = Authority.SOURCE_OF_TRUTH, Authority.HEURISTIC


def ask(probe: type[Probe], given: dict[str, str]) -> Evidence:
    taken = {t.name: t for t in probe.takes}
    bound = (BoundInput(n, taken[n].kind, taken[n].role, at) for n, at in given.items())
    return run_probe(ProbeRun(probe.name, tuple(bound), {}))


def verdict(evidence: Evidence, fault: str) -> Verdict:
    found = evidence.finding(fault)
    assert found is not None
    return found.verdict


def why(evidence: Evidence, fault: str) -> str:
    found = evidence.finding(fault)
    assert found is not None
    return found.why


def stale_reads(evidence: Evidence) -> list[str]:
    """What would be reported as changed if the evidence were checked now."""
    return [
        f"{record.name}: {read.kind} {read.name}"
        for record in evidence.inputs
        for read in record.read
        if open_artifact(record.kind, record.path).digest_of(read.kind, read.name) != read.sha256
    ]


def case_params(probe: type[Probe]) -> list[object]:
    cases = probe().cases()
    return [pytest.param(c, id=f"{c.fault}: {c.report or i}") for i, c in enumerate(cases)]


def assert_case(probe: type[Probe], case: Case) -> None:
    assert check_case(probe, case) == ""


def write_lines(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)
