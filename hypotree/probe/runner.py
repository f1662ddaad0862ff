"""Runs a probe and seals its evidence: the only place where a verdict becomes a record."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypotree.artifact.base import Artifact
from hypotree.artifact.files import FileTree
from hypotree.artifact.kinds import open_artifact
from hypotree.digest import Digest
from hypotree.errors import MisuseError, UnreadableError
from hypotree.model.evidence import Evidence, Finding, InputRecord, Read, Scalar
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.model.wire import canonical_json, decode, digest_of
from hypotree.probe.api import Probe, ProbeContext, Progress
from hypotree.probe.registry import code_digest, probe_class

_MAX_WHY = 2000


@dataclass(frozen=True)
class BoundInput:
    """An artifact in the place of one of a probe's inputs; `tree` serves a staged view of it."""

    name: str
    kind: str
    role: Role
    locator: str
    form: str = ""
    tree: FileTree | None = None


@dataclass(frozen=True)
class ProbeRun:
    """All that decides what one run sees."""

    probe: str
    inputs: tuple[BoundInput, ...]
    params: Mapping[str, Scalar]
    hypothesis: Digest | None = None
    time_limit: float | None = None


def run_probe(run: ProbeRun, progress: Progress | None = None) -> Evidence:
    """Run a probe where it belongs (here, or in a process of its own) and seal what it found.

    `UnreadableError` and `MisuseError` pass through: such an input was never
    probed. Any other exception is the probe's own fault and makes its findings INVALID.
    """
    probe = probe_class(run.probe)
    _check_inputs(probe, run.inputs)
    if probe.isolated:
        from hypotree.probe.isolation import run_isolated

        return run_isolated(run)
    return run_here(run, progress)


def run_here(run: ProbeRun, progress: Progress | None = None) -> Evidence:
    """Run a probe in this process."""
    probe = probe_class(run.probe)
    artifacts = {
        i.name: open_artifact(i.kind, i.locator, tree=i.tree, form=i.form) for i in run.inputs
    }
    limit = run.time_limit or probe.time_limit
    context = ProbeContext(
        artifacts,
        {i.name: i.role for i in run.inputs},
        run.params,
        progress,
        time.monotonic() + limit,
    )
    started = time.perf_counter()
    try:
        findings = _checked(probe, probe().run(context))
    except (UnreadableError, MisuseError):
        raise
    except Exception as error:  # noqa: BLE001 - a probe's own failure is a finding, never the end
        findings = invalid_findings(probe, f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - started
    try:
        return as_recorded(_seal(run, probe, context, artifacts, findings, seconds))
    except (UnreadableError, TypeError, ValueError, NotImplementedError) as error:
        why = f"what the probe found cannot be recorded: {error}"
        blank = ProbeContext({}, {}, run.params)
        return _seal(run, probe, blank, artifacts, invalid_findings(probe, why), seconds)


def as_recorded(evidence: Evidence) -> Evidence:
    """Evidence as it will be read back; an error for what has no JSON (NaN measures, numpy values)."""
    return decode(canonical_json(evidence), Evidence, "the probe's evidence")


def invalid_findings(probe: type[Probe], why: str) -> tuple[Finding, ...]:
    """Every fault of the probe as INVALID."""
    text = why[:_MAX_WHY]
    return tuple(Finding(f.code, Verdict.INVALID, Authority.NONE, text) for f in probe.decides)


def _check_inputs(probe: type[Probe], inputs: Sequence[BoundInput]) -> None:
    given = {bound.name for bound in inputs}
    known = {taken.name for taken in probe.takes}
    if unknown := given - known:
        raise MisuseError(
            f"running {probe.name}",
            f"it takes no {', '.join(sorted(unknown))}",
            f"it takes {', '.join(sorted(known))}",
        )
    missing = [taken for taken in probe.takes if taken.is_required and taken.name not in given]
    if missing:
        raise MisuseError(
            f"running {probe.name}",
            f"its input {missing[0].name} is missing ({missing[0].about})",
        )


def _checked(probe: type[Probe], findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """One finding a declared code, in declared order; what a probe left out or made up is INVALID."""
    by_code = {finding.fault: finding for finding in findings}
    if len(by_code) != len(findings) or any(probe.fault(code) is None for code in by_code):
        return invalid_findings(probe, "the probe decided a code twice, or one it does not declare")
    for fault in probe.decides:
        found = by_code.get(fault.code)
        if found and fault.is_guess and _is_by_truth(found):
            return invalid_findings(probe, f"{fault.code} is a guess, and was confirmed by a truth")
    undecided = "the probe ended without deciding this code"
    return tuple(
        by_code.get(f.code, Finding(f.code, Verdict.INVALID, Authority.NONE, undecided))
        for f in probe.decides
    )


def _is_by_truth(found: Finding) -> bool:
    return found.verdict is Verdict.CONFIRMED and found.authority is Authority.SOURCE_OF_TRUTH


def _seal(
    run: ProbeRun,
    probe: type[Probe],
    context: ProbeContext,
    artifacts: Mapping[str, Artifact],
    findings: tuple[Finding, ...],
    seconds: float,
) -> Evidence:
    return Evidence(
        schema="hypotree.evidence/1",
        probe=probe.name,
        version=probe.version,
        code_sha256=code_digest(probe),
        inputs=(*_records(run, artifacts), *_sources(context)),
        findings=findings,
        seconds=round(seconds, 6),
        summary=context.summary,
        measures=dict(context.measures),
        tables=tuple(context.tables),
        params=dict(run.params),
        hypothesis=run.hypothesis,
        environment=_environment(),
    )


def _records(run: ProbeRun, artifacts: Mapping[str, Artifact]) -> tuple[InputRecord, ...]:
    return tuple(
        InputRecord(
            i.name, i.kind, i.role, i.locator, reads_digest(artifacts[i.name].reads),
            artifacts[i.name].reads, i.form,
        )
        for i in run.inputs
    )  # fmt: skip


def _sources(context: ProbeContext) -> tuple[InputRecord, ...]:
    """Rule files: covered by the code's digest, and named here with their own."""
    return tuple(
        InputRecord(name, "rules", Role.TRUTH, path, digest, (Read("file", path, digest),))
        for name, path, digest in context.sources
    )


def reads_digest(reads: tuple[Read, ...]) -> Digest:
    """The digest of an input as far as it was read."""
    return digest_of(reads)


def _environment() -> dict[str, str]:
    found = {"python": platform.python_version(), "platform": sys.platform}
    torch = sys.modules.get("torch")
    if torch is not None:
        found["torch"] = str(torch.__version__)
    return found
