"""Gather the facts and ask the gate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hypotree.digest import Digest
from hypotree.fix.stage import StagedTree
from hypotree.fix.target import space_reasons, unsafe_reasons
from hypotree.gate import GateFacts, Permit, admit
from hypotree.model.declaration import Approve, Hypothesis, Rivals
from hypotree.model.event import CanaryRan, FixPlanned
from hypotree.model.fix import Plan, StagedFinding
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.probe.canary import run_canary
from hypotree.probe.registry import code_digest, probe_class
from hypotree.session.core import SessionCore
from hypotree.session.probing import changes_since, is_fresh
from hypotree.session.staging import Staged, fix_choice, probe_staged, stage_fix
from hypotree.session.truths import protected_targets, truth_facts
from hypotree.tree.graph import HypothesisTree
from hypotree.tree.replay import Sealed

#: In the place of a declaration that a broken journal no longer tells.
_NOTHING = Digest.of(b"")


@dataclass(frozen=True)
class Answer:
    """What the gate said, and the plan it said it about."""

    node: str
    fix: str
    plan: Plan | None
    view: StagedTree | None
    staged: tuple[StagedFinding, ...]
    decision: Permit | Refusal
    facts: GateFacts


def ask(core: SessionCore, node: str) -> Answer:
    """Plan the node's fix, probe its staged view where the gate would get that far, and ask."""
    if core.journal.is_broken and node not in core.state.hypotheses:
        facts = GateFacts(node, "?", "fix", _NOTHING, journal_problem=core.journal.problem)
        return Answer(node, facts.fix, None, None, (), admit(facts), facts)
    hypothesis = core.hypothesis(node)
    staged = stage_fix(core, node)
    facts = _facts(core, node, hypothesis, staged)
    if _codes(facts) <= _BEHIND_CANARY:
        facts = replace(facts, canary_faults=_canary(core, hypothesis))
    findings: tuple[StagedFinding, ...] = ()
    if staged.view is not None and staged.plan is not None and _codes(facts) <= _BEHIND_STAGING:
        findings = probe_staged(core, node, staged.view)
        core.append(FixPlanned(node, facts.fix, staged.plan.digest(), findings))
        facts = replace(facts, staged=findings)
    return Answer(node, facts.fix, staged.plan, staged.view, findings, admit(facts), facts)


#: What may stand in the way where the next, dearer question is still worth putting.
_BEHIND_STAGING = frozenset({
    RefusalCode.RIVAL_OPEN, RefusalCode.FIX_DOES_NOT_FLIP, RefusalCode.NEEDS_APPROVAL,
})  # fmt: skip
_BEHIND_CANARY = _BEHIND_STAGING | {RefusalCode.PROBE_CANNOT_FAIL, RefusalCode.OUT_OF_SCOPE}


def _codes(facts: GateFacts) -> frozenset[RefusalCode]:
    decision = admit(facts)
    if isinstance(decision, Permit):
        return frozenset()
    return frozenset({decision.code, *decision.also})


def ask_again(core: SessionCore, answer: Answer) -> Answer:
    """The same question after a person was asked; whether they agreed is the journal's to say."""
    facts = replace(
        answer.facts,
        journal_problem=_journal_problem(core),
        is_plan_approved=_is_approved(core, answer.plan),
    )
    return replace(answer, facts=facts, decision=admit(facts))


def _is_approved(core: SessionCore, plan: Plan | None) -> bool:
    return plan is not None and plan.digest() in core.state.approved_plans


def _facts(core: SessionCore, node: str, hypothesis: Hypothesis, staged: Staged) -> GateFacts:
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
        journal_problem=_journal_problem(core),
        unsafe=_unsafe(core, node, hypothesis, staged, names),
        evidence=latest.evidence if latest else None,
        evidence_sha256=latest.sha256 if latest else None,
        code_now=code_digest(probe),
        version_now=probe.version,
        changed_reads=changes_since(core, node, latest.evidence) if latest else (),
        truths=truth_facts(core, node, hypothesis, names, staged.plan),
        canary_faults=core.state.canaries.get((hypothesis.probe, code_digest(probe))),
        open_rivals=_open_rivals(core, node),
        plan=staged.plan,
        plan_problem=staged.problem,
        out_of_scope=staged.undeclared,
        needs_approval=core.state.policy.approve is Approve.ASK,
        is_plan_approved=_is_approved(core, staged.plan),
    )


def _journal_problem(core: SessionCore) -> str:
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


def _canary(core: SessionCore, hypothesis: Hypothesis) -> tuple[str, ...]:
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
