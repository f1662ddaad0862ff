"""What every probe of the pack must satisfy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hypotree.fix.catalog import FIXES
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import Probe
from hypotree.probe.registry import all_probes, code_digest, declared
from hypotree.testing import check_probe

PROBES, BROKEN = all_probes()


@pytest.fixture(params=sorted(PROBES))
def probe(request: pytest.FixtureRequest) -> type[Probe]:
    return PROBES[request.param]


def test_every_declared_probe_loads() -> None:
    assert BROKEN == {}
    assert set(PROBES) == set(declared())


def test_its_name_is_the_one_it_is_declared_by(probe: type[Probe]) -> None:
    assert PROBES[probe.name] is probe
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", probe.name)


def test_every_code_has_a_claim_and_a_known_fix(probe: type[Probe]) -> None:
    assert probe.decides
    for fault in probe.decides:
        assert re.fullmatch(r"[a-z0-9]+\.[a-z0-9-]+", fault.code)
        assert len(fault.claim) > 10
        assert fault.fix in {"", *FIXES}


def test_its_cases_pass(probe: type[Probe], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "isolated", False)  # the cases matter here, not the worker
    if probe().cases():
        check_probe(probe)
    else:
        assert all(fault.is_symptom for fault in probe.decides), "a cause without a planted case"


def test_its_code_has_a_digest_that_stays(probe: type[Probe]) -> None:
    assert code_digest(probe) == code_digest(probe)


def test_it_needs_no_more_than_it_says(probe: type[Probe], tmp_path: Path) -> None:
    names = [taken.name for taken in probe.takes]
    assert len(set(names)) == len(names)
    assert set(Verdict) and set(Authority)
    for fault in probe.decides:
        assert set(fault.needs) <= set(names)
