"""Run a node's probe and seal what it found; measure the symptom."""

from __future__ import annotations

from collections.abc import Mapping

from hypotree.artifact.files import FileTree
from hypotree.digest import Digest
from hypotree.errors import HypotreeError, MisuseError
from hypotree.model.declaration import SYMPTOM, Binding, Measure
from hypotree.model.event import EvidenceSealed
from hypotree.model.evidence import Evidence, InputRecord, Scalar
from hypotree.probe.api import Progress
from hypotree.probe.registry import code_digest, probe_class
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
from hypotree.session.bindings import bind, open_bound
from hypotree.session.core import SessionCore


def run_node(core: SessionCore, node: str, progress: Progress | None = None) -> Evidence:
    """Run the probe bound to `node` on the artifacts as they are, and seal its evidence."""
    hypothesis = core.hypothesis(node)
    probe = probe_class(hypothesis.probe)
    if probe.fault(hypothesis.fault) is None:
        raise MisuseError(
            f"running the probe of {node}",
            f"{hypothesis.probe} does not decide {hypothesis.fault}",
            f"it decides {', '.join(fault.code for fault in probe.decides)}",
        )
    evidence = run_probe(
        ProbeRun(
            hypothesis.probe,
            bind(core.folder, hypothesis.probe, hypothesis.inputs, core.artifacts()),
            hypothesis.params,
            hypothesis.digest(),
        ),
        progress,
    )
    core.append(EvidenceSealed(node, evidence))
    return evidence


def measure_symptom(core: SessionCore, progress: Progress | None = None) -> tuple[Evidence, ...]:
    """Measure the symptom in every way that it declares, and seal each measurement."""
    measures = core.state.symptom.measures()
    if not measures:
        raise MisuseError(
            "measuring the symptom", "session.yaml names no probe for it", "add symptom.probe"
        )
    results = tuple(run_measure(core, measure, progress) for measure in measures)
    for evidence in results:
        core.append(EvidenceSealed(SYMPTOM, evidence))
    return results


def run_measure(core: SessionCore, measure: Measure, progress: Progress | None = None) -> Evidence:
    """One measurement of the symptom, not yet sealed into the journal."""
    inputs = bind(core.folder, measure.probe, measure.inputs, core.artifacts())
    return run_probe(ProbeRun(measure.probe, inputs, measure.params), progress)


def rebound(
    core: SessionCore, evidence: Evidence, node: str, trees: Mapping[str, FileTree]
) -> ProbeRun | None:
    """The run that `evidence` came from, over staged files; None if its binding is gone."""
    inputs, params = _declared(core, evidence, node)
    if inputs is None:
        return None
    bound = bind(core.folder, evidence.probe, inputs, core.artifacts(), trees)
    return ProbeRun(evidence.probe, bound, params, evidence.hypothesis)


def _declared(
    core: SessionCore, evidence: Evidence, node: str
) -> tuple[Mapping[str, Binding] | None, Mapping[str, Scalar]]:
    if node != SYMPTOM:
        hypothesis = core.state.hypotheses.get(node)
        if hypothesis is None or hypothesis.probe != evidence.probe:
            return None, {}
        return hypothesis.inputs, hypothesis.params
    for measure in core.state.symptom.measures():
        if measure.probe == evidence.probe:
            return measure.inputs, measure.params
    return None, {}


def changes_since(core: SessionCore, node: str, evidence: Evidence) -> tuple[str, ...]:
    """What `evidence` read of the artifacts bound to `node` now, and is not so any more."""
    try:
        run = rebound(core, evidence, node, {})
    except HypotreeError as error:
        return (str(error),)
    if run is None:
        return ("the binding of its probe",)
    bound = {i.name: i for i in run.inputs}
    given = {record.name for record in evidence.inputs if record.kind != "rules"}
    changed = [f"input {name}" for name in sorted(given ^ set(bound))]
    if dict(run.params) != evidence.params:
        changed.append("the parameters of its probe")
    for record in evidence.inputs:
        if record.kind != "rules" and record.name in bound:
            changed += input_changes(record, bound[record.name])
    return tuple(changed)


def input_changes(record: InputRecord, bound: BoundInput) -> list[str]:
    """Names of the reads of one input that digest differently now."""
    if record.form != bound.form or record.role != bound.role:
        return [f"the role or form of {record.name}"]
    changed = []
    try:
        reader = open_bound(bound)
    except HypotreeError:
        return [f"{record.name} (it cannot be read)"]
    for read in record.read:
        try:
            now: Digest | None = reader.digest_of(read.kind, read.name)
        except (HypotreeError, OSError):
            now = None
        if now != read.sha256:
            changed.append(f"{record.name}: {read.name or read.kind}")
    return changed


def is_fresh(core: SessionCore, node: str, evidence: Evidence) -> bool:
    """Whether evidence still speaks for `node`: same declaration, same probe, same content."""
    hypothesis = core.state.hypotheses.get(node)
    if hypothesis is not None and evidence.hypothesis != hypothesis.digest():
        return False
    try:
        probe = probe_class(evidence.probe)
        if (probe.version, code_digest(probe)) != (evidence.version, evidence.code_sha256):
            return False
        return not changes_since(core, node, evidence)
    except HypotreeError:
        # Its probe cannot be loaded or its inputs cannot be bound: nothing speaks for it now.
        return False
