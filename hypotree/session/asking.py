"""Plan, probe the staged view, and ask the gate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hypotree.digest import Digest
from hypotree.fix.file_system import disk_facts
from hypotree.fix.staged_tree import StagedTree
from hypotree.gate import GateFacts, Permit, admit
from hypotree.model.event import FixPlanned
from hypotree.model.fix import Plan, StagedFinding
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.session.core import SessionCore
from hypotree.session.gate_facts import gather_facts, is_approved, journal_problem, shown_faults
from hypotree.session.staged_probing import probe_staged
from hypotree.session.staging import stage_fix

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

    def disk_facts(self) -> tuple[str, ...]:
        """What the file system makes of writing each file."""
        files = self.plan.files if self.plan else ()
        return tuple(
            fact for f in files for fact in disk_facts(Path(f.path), f.size_after, f.bytes_fresh)
        )


def ask(core: SessionCore, node: str) -> Answer:
    """Plan the node's fix, probe its staged view where the gate would get that far, and ask."""
    core.refresh()
    if core.journal.is_broken and node not in core.state.hypotheses:
        facts = GateFacts(node, "?", "fix", _NOTHING, journal_problem=core.journal.problem)
        return Answer(node, facts.fix, None, None, (), admit(facts), facts)
    hypothesis = core.hypothesis(node)
    staged = stage_fix(core, node)
    facts = gather_facts(core, node, hypothesis, staged)
    if _codes(facts) <= _BEHIND_CANARY:
        facts = replace(facts, canary_faults=shown_faults(core, hypothesis))
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
        journal_problem=journal_problem(core),
        is_plan_approved=is_approved(core, answer.plan),
    )
    return replace(answer, facts=facts, decision=admit(facts))
