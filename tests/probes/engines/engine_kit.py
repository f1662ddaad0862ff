"""Engines for tests: the small one, patched or not, and released wheels out of the real cache."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.errors import ToolError
from hypotree.model.evidence import Evidence
from hypotree.probe.registry import probe_class
from hypotree.probe.runner import BoundInput, ProbeRun, run_here
from hypotree_probes.engines.asking import ask_about_draft
from hypotree_probes.engines.coverage_cases import HEALTHY_CONFIG, healthy_tensors
from hypotree_probes.engines.fetch import fetch
from hypotree_probes.planting import plant_checkpoint

PRODUCERS = Path(__file__).parents[2] / "cases" / "producers"
SPECULATORS = PRODUCERS / "speculators-0.9.0-llama"
SPECFORGE = PRODUCERS / "specforge-0.2.0"


def wheel(spec: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The spec of a release whose wheel is in the real cache; fetched into it if need be."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    monkeypatch.setenv("HYPOTREE_ENGINE_CACHE", str(home / "hypotree" / "engines"))
    try:
        fetch(spec)
    except ToolError as error:
        pytest.skip(f"the registry cannot be reached: {error.found}")
    return spec


def probe(name: str, params: dict[str, Any] | None = None, **given: str | Path) -> Evidence:
    taken = {t.name: t for t in probe_class(name).takes}
    bound = tuple(
        BoundInput(key, taken[key].kind, taken[key].role, str(at)) for key, at in given.items()
    )
    return run_here(ProbeRun(name, bound, params or {}))


def confirmed(evidence: Evidence) -> set[str]:
    return {f.fault for f in evidence.findings if f.verdict == "confirmed"}


def verdicts(evidence: Evidence) -> set[str]:
    return {str(finding.verdict) for finding in evidence.findings}


def files_read(evidence: Evidence) -> dict[str, str]:
    """The engine's files that decided, with their digests."""
    record = evidence.input("engine")
    assert record is not None
    return {read.name: read.sha256.hex for read in record.read if read.kind == "file"}


def tiny_draft(folder: Path, layer: str = "midlayer") -> str:
    return plant_checkpoint(folder, healthy_tensors(layer), HEALTHY_CONFIG)


def values(spec: str, draft: Path, width: int) -> dict[str, Any]:
    """A forward of the engine on a producer's real weights, beside the reference."""
    checkpoint = Checkpoint(str(draft))
    tensors = {n: [at.dtype, list(at.shape)] for n, at in checkpoint.layouts().items()}
    options = {
        "device": "cpu", "dtype": "float32", "width": width, "vocabulary": 128, "hidden": 32,
        "compare": True, "tensors": tensors,
    }  # fmt: skip
    return ask_about_draft(Engine(spec), checkpoint, {"values": options})["values"]
