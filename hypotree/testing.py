"""The kit for probe authors: put a probe to its own cases, as the gate does before it opens.

    from hypotree.testing import check_probe

    def test_my_probe():
        check_probe(MyProbe)

The probe must be installed (declared by an entry point of the group `hypotree.probes`), since it is
run as any other is. docs/write-your-own-probe.md is the long form.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from hypotree.artifact.kinds import open_artifact
from hypotree.model.evidence import Evidence
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import Case, Probe
from hypotree.probe.registry import declared, probe_class
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe

__all__ = ["check_probe", "run_case", "stale_reads"]


def check_probe(probe: type[Probe]) -> None:
    """Raise AssertionError unless the probe keeps the rules of a probe.

    - It is declared under its own name, and its codes and inputs are each named once.
    - Every code has a case, unless it is a guess (`Fault.is_guess`).
    - Every planted fault is CONFIRMED by a source of truth, every healthy twin is REFUTED.
    - No case leaves a code undecided, and no guess is confirmed by a source of truth.
    - Its evidence is fresh right after the run: what it read is what it noted.
    """
    _check_declaration(probe)
    codes = {fault.code for fault in probe.decides}
    cases = probe().cases()
    shown = {case.fault for case in cases}
    assert not shown - codes, (
        f"cases for codes that {probe.name} does not decide: {sorted(shown - codes)}"
    )
    assert cases, f"{probe.name} has no cases: its verdicts will open no gate"
    blind = {fault.code for fault in probe.decides if not fault.is_guess} - shown
    assert not blind, f"no case shows that {probe.name} can confirm and clear {sorted(blind)}"
    for case in cases:
        for what, make in (("planted", case.plant), ("healthy", case.heal)):
            with tempfile.TemporaryDirectory(prefix="hypotree-check-") as folder:
                evidence = run_case(probe, case, make, Path(folder))
                _check_evidence(evidence, case, what)


def run_case(
    probe: type[Probe], case: Case, make: Callable[[Path], Mapping[str, str]], folder: Path
) -> Evidence:
    """The evidence of one run on the files that `make` (the case's plant or heal) writes."""
    taken = {t.name: t for t in probe.takes}
    bound = tuple(
        BoundInput(name, taken[name].kind, taken[name].role, locator)
        for name, locator in make(folder).items()
    )
    return run_probe(ProbeRun(probe.name, bound, case.params))


def stale_reads(evidence: Evidence) -> list[str]:
    """Everything that the evidence read and that digests to something else now."""
    return [
        f"{record.name}: {read.kind} {read.name}"
        for record in evidence.inputs
        if record.kind != "rules"
        for read in record.read
        if open_artifact(record.kind, record.path, form=record.form).digest_of(read.kind, read.name)
        != read.sha256
    ]


def _check_declaration(probe: type[Probe]) -> None:
    target = declared().get(probe.name)
    assert target is not None, (
        f"{probe.name} is not installed: declare it under "
        f'[project.entry-points."hypotree.probes"] and pip install the package'
    )
    assert probe_class(probe.name) is probe, f"{probe.name} is declared as {target}"
    for what, names in (
        ("code", [fault.code for fault in probe.decides]),
        ("input", [taken.name for taken in probe.takes]),
    ):
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"{probe.name} declares the {what} {min(twice)} twice"


def _check_evidence(evidence: Evidence, case: Case, what: str) -> None:
    where = f"{case.fault}, {what}"
    for found in evidence.findings:
        assert found.verdict is not Verdict.INVALID, f"{where}: {found.fault}: {found.why}"
    found_here = evidence.finding(case.fault)
    assert found_here is not None
    said = f"{where}, and found {found_here.verdict} by {found_here.authority}: {found_here.why}"
    if what == "planted":
        assert found_here.verdict is Verdict.CONFIRMED, said
        assert found_here.authority is Authority.SOURCE_OF_TRUTH, said
    else:
        assert found_here.verdict is Verdict.REFUTED, said
    stale = stale_reads(evidence)
    assert not stale, f"{where}: read otherwise than it was noted: {stale[:3]}"
