"""Put a staged view to the probes: a fix must flip its own and break no other."""

from __future__ import annotations

from pathlib import Path

from hypotree.errors import HypotreeError
from hypotree.fix.staged_tree import StagedTree
from hypotree.model.declaration import SYMPTOM, Binding
from hypotree.model.evidence import Evidence
from hypotree.model.fix import StagedFinding
from hypotree.model.verdict import Verdict
from hypotree.probe.runner import ProbeRun, run_probe
from hypotree.session.bindings import bind
from hypotree.session.core import SessionCore
from hypotree.session.probing import input_changes, is_fresh, rebound
from hypotree.session.staging import fix_choice

_INTEGRITY, _INTEGRITY_INPUT = "file-integrity", "draft"


def probe_staged(core: SessionCore, node: str, view: StagedTree) -> tuple[StagedFinding, ...]:
    """The node's own probe, file-integrity, and all fresh evidence that read what changes."""
    hypothesis = core.hypothesis(node)
    artifact = hypothesis.inputs[fix_choice(hypothesis).input].artifact
    trees = dict.fromkeys(_names_of(core, view), view) | {artifact: view}
    own = core.state.latest(node)
    findings: list[StagedFinding] = []
    if own is not None:
        findings += _again(core, node, own.evidence, trees)
    findings += _integrity(core, artifact, view)
    for other, evidence in _fresh_evidence(core):
        if other != node and _reads_change(core, other, evidence, trees):
            findings += _again(core, other, evidence, trees)
    return tuple(findings)


def _names_of(core: SessionCore, view: StagedTree) -> tuple[str, ...]:
    """Every artifact that is the folder which the view is over, under whatever name."""
    return tuple(n for n, a in core.artifacts().items() if _is_below(core.path_of(a), view.root))


def _is_below(locator: str, root: Path) -> bool:
    path = Path(locator)
    try:
        return (path if path.is_dir() else path.parent).samefile(root)
    except OSError:
        return False


def _again(
    core: SessionCore, node: str, evidence: Evidence, trees: dict[str, StagedTree]
) -> list[StagedFinding]:
    run = rebound(core, evidence, node, trees)
    if run is None:
        return []
    return _compare(evidence, _run(run))


def _run(run: ProbeRun) -> Evidence | str:
    """Evidence, or why the staged view could not even be read."""
    try:
        return run_probe(run)
    except HypotreeError as error:
        return str(error)


def _compare(before: Evidence, after: Evidence | str) -> list[StagedFinding]:
    compared = []
    for finding in before.findings:
        again = after.finding(finding.fault) if isinstance(after, Evidence) else None
        verdict = again.verdict if again else Verdict.INVALID
        why = again.why if again else str(after)
        compared.append(StagedFinding(before.probe, finding.fault, finding.verdict, verdict, why))
    return compared


def _integrity(core: SessionCore, artifact: str, view: StagedTree) -> list[StagedFinding]:
    if core.kind_of(artifact) != "checkpoint":
        return []
    inputs = {_INTEGRITY_INPUT: Binding(artifact)}
    artifacts = core.artifacts()
    before = _run(ProbeRun(_INTEGRITY, bind(core.folder, _INTEGRITY, inputs, artifacts), {}))
    staged = bind(core.folder, _INTEGRITY, inputs, artifacts, {artifact: view})
    after = _run(ProbeRun(_INTEGRITY, staged, {}))
    return _compare(before, after) if isinstance(before, Evidence) else []


def _fresh_evidence(core: SessionCore) -> list[tuple[str, Evidence]]:
    found = []
    for node in (SYMPTOM, *core.state.hypotheses):
        newest = {s.evidence.probe: s.evidence for s in core.state.evidence.get(node, [])}
        found += [(node, e) for e in newest.values() if is_fresh(core, node, e)]
    return found


def _reads_change(
    core: SessionCore, node: str, evidence: Evidence, trees: dict[str, StagedTree]
) -> bool:
    """Whether anything that the evidence read digests differently on the staged view."""
    run = rebound(core, evidence, node, trees)
    bound = {i.name: i for i in run.inputs} if run else {}
    return any(
        input_changes(record, bound[record.name])
        for record in evidence.inputs
        if record.name in bound and bound[record.name].tree is not None
    )
