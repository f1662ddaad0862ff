"""Plan a node's fix and put the staged view to the probes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypotree.artifact.base import Artifact as Reader
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.errors import HypotreeError, MisuseError
from hypotree.fix.catalog import SCRIPT, FixRequest, edits_of
from hypotree.fix.plan import make_plan, undeclared_changes
from hypotree.fix.script import script_result
from hypotree.fix.script_edits import RESULT, difference_of
from hypotree.fix.stage import StagedTree, stage
from hypotree.model.declaration import FixChoice, Hypothesis
from hypotree.model.edit import Edit, tensors_named
from hypotree.model.evidence import Finding
from hypotree.model.fix import Plan
from hypotree.probe.registry import probe_class
from hypotree.session.bindings import bind, open_bound
from hypotree.session.core import SessionCore


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
    try:
        readers, kinds = _readers(core, hypothesis, choice)
        subject = readers.get(choice.input)
        if subject is None:
            raise MisuseError(f"planning {choice.name}", f"{node} binds no input {choice.input!r}")
        if choice.name == SCRIPT:
            return _stage_script(node, choice, subject, readers)
        names = subject.names() if isinstance(subject, Checkpoint) else ()
        edits = edits_of(FixRequest(choice, _finding(core, node), kinds, names))
        staged = _staged(node, choice, subject, edits, readers)
    except HypotreeError as error:
        return Staged(None, None, (), str(error))
    beyond = (*staged.undeclared, *_unsupported(_finding(core, node), edits))
    return replace(staged, undeclared=tuple(dict.fromkeys(beyond)))


def _readers(
    core: SessionCore, hypothesis: Hypothesis, choice: FixChoice
) -> tuple[dict[str, Reader], dict[str, str]]:
    """A reader for each input, and for the artifact that the fix takes bytes from; with their kinds."""
    inputs = bind(core.folder, hypothesis.probe, hypothesis.inputs, core.artifacts())
    readers = {bound.name: open_bound(bound) for bound in inputs}
    if choice.source and choice.source not in readers and choice.source in core.state.artifacts:
        readers[choice.source] = core.reader(choice.source)
    return readers, {name: reader.kind for name, reader in readers.items()}


def _staged(
    node: str,
    choice: FixChoice,
    subject: Reader,
    edits: tuple[Edit, ...],
    readers: dict[str, Reader],
) -> Staged:
    view = stage(subject, edits, readers)
    plan = make_plan(node, choice.name, choice.input, subject, view, edits)
    if not plan.files:
        return Staged(None, None, (), f"{choice.name} would change nothing: the file is so already")
    return Staged(plan, view, undeclared_changes(subject, view, edits), "")


def _stage_script(
    node: str, choice: FixChoice, subject: Reader, readers: dict[str, Reader]
) -> Staged:
    """What the script does to a copy, as a plan; all that it was not declared to do is beyond."""
    if not isinstance(subject, Checkpoint):
        raise MisuseError("planning a script", f"{subject.locator} is no checkpoint")
    with script_result(subject, choice.command) as result:
        found = difference_of(subject, result, choice.tensors, choice.fields)
        staged = _staged(node, choice, subject, found.edits, {**readers, RESULT: result})
    return replace(staged, undeclared=(*found.beyond, *staged.undeclared))


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
