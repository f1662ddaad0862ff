"""The kit for probe authors: put a probe to its own cases."""

from __future__ import annotations

from hypotree.probe.api import Probe
from hypotree.probe.canary import run_canary

__all__ = ["check_probe"]


def check_probe(probe: type[Probe]) -> None:
    """Raise AssertionError unless every planted fault is confirmed and every twin is cleared.

    The probe must be installed (declared by an entry point), since it is run as
    any other is.
    """
    codes = {case.fault for case in probe().cases()}
    unknown = codes - {fault.code for fault in probe.decides}
    assert not unknown, f"cases for codes that {probe.name} does not decide: {sorted(unknown)}"
    assert codes, f"{probe.name} has no cases: its verdicts will open no gate"
    result = run_canary(probe)
    assert not result.failed, "\n".join(result.failed)
