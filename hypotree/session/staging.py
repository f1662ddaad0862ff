"""Plan a node's fix and put the staged view to the probes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hypotree.artifact.base import Artifact as Reader
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.errors import HypotreeError, MisuseError
from hypotree.fix.catalog import edits_of
from hypotree.fix.plan import make_plan, undeclared_changes
from hypotree.fix.stage import StagedTree, stage
from hypotree.model.declaration import SYMPTOM, Binding, FixChoice, Hypothesis
from hypotree.model.edit import Edit, tensors_named
from hypotree.model.evidence import Evidence, Finding
from hypotree.model.fix import Plan, StagedFinding
from hypotree.model.verdict import Verdict
from hypotree.probe.registry import probe_class
from hypotree.probe.runner import ProbeRun, run_probe
from hypotree.session.bindings import bind, open_bound
from hypotree.session.core import SessionCore
from hypotree.session.probing import input_changes, is_fresh, rebound

#: The input whose files a fix changes.
SUBJECT = "draft"
_INTEGRITY = "file-integrity"


@dataclass(frozen=True)
class Staged:
    """A plan with its view, or why there is none."""

    plan: Plan | None
    view: StagedTree | None
    undeclared: tuple[str, ...]
    problem: str


def fix_choice(hypothesis: Hypothesis) -> FixChoice:
    """The declared fix, else the probe's default for this fault."""
    if hypothesis.fix is not None:
        return hypothesis.fix
    fault = probe_class(hypothesis.probe).fault(hypothesis.fault)
    return FixChoice(fault.fix if fault else "advice")


def stage_fix(core: SessionCore, node: str) -> Staged:
    """The node's fix as a staged view of its subject; a fix that cannot be made is said why."""
    hypothesis = core.hypothesis(node)
    choice = fix_choice(hypothesis)
    bound = {
        i.name: i for i in bind(core.folder, hypothesis.probe, hypothesis.inputs, core.artifacts())
    }
    readers: dict[str, Reader] = {name: open_bound(i) for name, i in bound.items()}
    subject = readers.get(SUBJECT)
    try:
        edits = edits_of(choice, _finding(core, node), {n: i.kind for n, i in bound.items()})
        if not isinstance(subject, Checkpoint):
            raise MisuseError(f"planning {choice.name}", f"{node} binds no checkpoint as {SUBJECT}")
        view = stage(subject, edits, readers)
        plan = make_plan(node, choice.name, SUBJECT, subject, view, edits)
    except HypotreeError as error:
        return Staged(None, None, (), str(error))
    if not plan.files:
        return Staged(None, None, (), f"{choice.name} would change nothing: the file is so already")
    beyond = (*undeclared_changes(subject, view, edits), *_unsupported(_finding(core, node), edits))
    return Staged(plan, view, tuple(dict.fromkeys(beyond)), "")


def _unsupported(finding: Finding | None, edits: tuple[Edit, ...]) -> tuple[str, ...]:
    """Tensors that the edits name and the finding, where it says what would repair it, does not."""
    if finding is None or not finding.remedy:
        return ()
    named = {name for edit in finding.remedy for name in tensors_named(edit)}
    named |= {locator.tensor for locator in finding.locators}
    return tuple(sorted({name for edit in edits for name in tensors_named(edit)} - named))


def _finding(core: SessionCore, node: str) -> Finding | None:
    latest = core.state.latest(node)
    return latest.evidence.finding(core.hypothesis(node).fault) if latest else None


def probe_staged(core: SessionCore, node: str, view: StagedTree) -> tuple[StagedFinding, ...]:
    """The node's own probe, file-integrity, and all fresh evidence that read what changes."""
    hypothesis = core.hypothesis(node)
    artifact = hypothesis.inputs[SUBJECT].artifact
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
    inputs = {SUBJECT: Binding(artifact)}
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
