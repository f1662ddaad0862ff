"""Gather what the gate looks at."""

from __future__ import annotations

from pathlib import Path

from hypotree.fix.target import space_reasons, unsafe_reasons
from hypotree.gate import GateFacts
from hypotree.model.declaration import Approve, Hypothesis, Rivals
from hypotree.model.event import CanaryRan
from hypotree.model.evidence import Finding
from hypotree.model.fix import Plan
from hypotree.model.verdict import Verdict
from hypotree.probe.canary import run_canary
from hypotree.probe.registry import code_digest, probe_class
from hypotree.session.core import SessionCore
from hypotree.session.probing import changes_since, is_fresh
from hypotree.session.staging import Staged, fix_choice
from hypotree.session.truths import protected_targets, truth_facts
from hypotree.tree.graph import HypothesisTree
from hypotree.tree.replay import Sealed


def is_approved(core: SessionCore, plan: Plan | None) -> bool:
    """Whether a person has agreed to exactly this plan."""
    return plan is not None and plan.digest() in core.state.approved_plans


def gather_facts(core: SessionCore, node: str, hypothesis: Hypothesis, staged: Staged) -> GateFacts:
    """Everything that can be known without running a probe."""
    latest = core.state.latest(node)
    probe = probe_class(hypothesis.probe)
    names = list(staged.plan.sources) if staged.plan else []
    finding = latest.evidence.finding(hypothesis.fault) if latest else None
    names += finding.truth if finding else ()
    return GateFacts(
        node=node,
        fault=hypothesis.fault,
        fix=fix_choice(hypothesis).name,
        hypothesis_now=hypothesis.digest(),
        journal_problem=journal_problem(core),
        unsafe=_unsafe(core, node, hypothesis, staged, names),
        evidence=latest.evidence if latest else None,
        evidence_sha256=latest.sha256 if latest else None,
        code_now=code_digest(probe),
        version_now=probe.version,
        changed_reads=_changed_reads(core, node, fix_choice(hypothesis).input, latest, finding),
        truths=truth_facts(core, node, hypothesis, names, staged.plan),
        canary_faults=core.state.canaries.get((hypothesis.probe, code_digest(probe))),
        open_rivals=_open_rivals(core, node),
        plan=staged.plan,
        plan_problem=staged.problem,
        out_of_scope=staged.undeclared,
        needs_approval=_needs_approval(core, hypothesis),
        is_plan_approved=is_approved(core, staged.plan),
    )


def _needs_approval(core: SessionCore, hypothesis: Hypothesis) -> str:
    """`approve: auto` is a person's word on the subjects that they declared, and on no others."""
    if core.state.policy.approve is Approve.ASK:
        return "the policy is approve: ask"
    binding = hypothesis.inputs.get(fix_choice(hypothesis).input)
    known = core.state.artifacts.get(binding.artifact) if binding else None
    if binding and known and known.proposed_by:
        return f"{binding.artifact} is only proposed (by {known.proposed_by.kind})"
    return ""


def _changed_reads(
    core: SessionCore, node: str, subject: str, latest: Sealed | None, finding: Finding | None
) -> tuple[str, ...]:
    """What changed, and what was confirmed without being read: no change of it could ever be seen."""
    if latest is None:
        return ()
    changed = changes_since(core, node, latest.evidence)
    if finding is None or finding.verdict is not Verdict.CONFIRMED:
        return changed
    records = {name: latest.evidence.input(name) for name in (subject, *finding.truth)}
    unread = (name for name, record in records.items() if record is not None and not record.read)
    return (*changed, *(f"{name} (its probe noted no read of it)" for name in unread))


def journal_problem(core: SessionCore) -> str:
    """What is wrong with the whole journal, "" if nothing is."""
    core.refresh()
    audit = core.journal.verify()
    return f"line {audit.line}: {audit.why}" if audit.state == "broken" else ""


def _unsafe(
    core: SessionCore, node: str, hypothesis: Hypothesis, staged: Staged, names: list[str]
) -> tuple[str, ...]:
    if staged.plan is None or staged.view is None:
        return ()
    reasons = list(protected_targets(core, node, hypothesis, staged.plan, names))
    for file in staged.plan.files:
        try:
            reasons += unsafe_reasons(staged.view.root / file.name)
        except OSError as error:
            reasons.append(f"{file.path}: {error.strerror or error}")
    return (*reasons, *space_reasons((Path(f.path), f.size_after) for f in staged.plan.files))


def _open_rivals(core: SessionCore, node: str) -> tuple[str, ...]:
    if core.state.policy.rivals is Rivals.OFF:
        return ()
    rivals = HypothesisTree(core.state.hypotheses).rivals(node)
    return tuple(r for r in rivals if not _has_fresh(core, r, core.state.latest(r)))


def _has_fresh(core: SessionCore, node: str, latest: Sealed | None) -> bool:
    return latest is not None and is_fresh(core, node, latest.evidence)


def shown_faults(core: SessionCore, hypothesis: Hypothesis) -> tuple[str, ...]:
    """Fault codes that the probe has shown here with this very code; runs the cases if need be."""
    probe = probe_class(hypothesis.probe)
    code = code_digest(probe)
    shown = core.state.canaries.get((hypothesis.probe, code), ())
    if hypothesis.fault in shown:
        return shown
    result = run_canary(probe, hypothesis.fault)
    faults = tuple(dict.fromkeys([*shown, *result.shown]))
    core.append(CanaryRan(hypothesis.probe, code, faults, result.failed))
    return faults
