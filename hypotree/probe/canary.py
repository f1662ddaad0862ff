"""Put a probe to its own planted faults and healthy twins: a probe that cannot fail opens no gate."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import Case, Probe
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe


@dataclass(frozen=True)
class CanaryResult:
    """Which fault codes a probe has shown that it can confirm and clear."""

    shown: tuple[str, ...]
    failed: tuple[str, ...]
    """What went wrong, one sentence a case."""


def run_canary(probe: type[Probe], fault: str | None = None) -> CanaryResult:
    """Run the cases of one fault code, or of all; a code is shown if every case of it passes."""
    shown: dict[str, bool] = {}
    failed: list[str] = []
    try:
        cases = [case for case in probe().cases() if fault in (None, case.fault)]
    except Exception as error:  # noqa: BLE001 - a probe's own failure is a finding, never the end
        return CanaryResult((), (f"its cases cannot be listed: {_words(error)}",))
    for case in cases:
        problem = check_case(probe, case)
        shown[case.fault] = shown.get(case.fault, True) and not problem
        failed += [problem] if problem else []
    return CanaryResult(tuple(code for code, good in shown.items() if good), tuple(failed))


def check_case(probe: type[Probe], case: Case) -> str:
    """What is wrong with one case, "" if the fault is confirmed and its twin is not."""
    with tempfile.TemporaryDirectory(prefix="hypotree-canary-") as folder:
        planted, healthy = Path(folder, "planted"), Path(folder, "healthy")
        planted.mkdir()
        healthy.mkdir()
        try:
            return _problem(probe, case, planted, healthy)
        except Exception as error:  # noqa: BLE001 - the same
            return f"{case.fault}: its case cannot be run: {_words(error)}"


def _problem(probe: type[Probe], case: Case, planted: Path, healthy: Path) -> str:
    sick = _finding(probe, case, case.plant(planted))
    if sick.verdict is not Verdict.CONFIRMED or sick.authority is not Authority.SOURCE_OF_TRUTH:
        return f"{case.fault}: planted, and found {sick.verdict} by {sick.authority}: {sick.why}"
    well = _finding(probe, case, case.heal(healthy))
    if well.verdict is not Verdict.REFUTED:
        return f"{case.fault}: healthy, and found {well.verdict}: {well.why}"
    return ""


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _finding(probe: type[Probe], case: Case, locators: Mapping[str, str]) -> Finding:
    taken = {t.name: t for t in probe.takes}
    inputs = tuple(
        BoundInput(name, taken[name].kind, taken[name].role, locator)
        for name, locator in locators.items()
    )
    found = run_probe(ProbeRun(probe.name, inputs, case.params)).finding(case.fault)
    assert found is not None
    return found
