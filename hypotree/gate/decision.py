"""admit(): the only maker of a Permit."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NoReturn

from hypotree.digest import Digest
from hypotree.errors import ToolError
from hypotree.gate.facts import GateFacts
from hypotree.model.evidence import Finding
from hypotree.model.fix import Plan
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.model.verdict import Authority, Verdict
from hypotree.model.wire import canonical_json

_KEY: Final = secrets.token_bytes(32)


@dataclass(frozen=True)
class Permit:
    """May write: exactly this plan, on exactly the bytes that its evidence saw.

    Cannot be made by hand: its seal is over all that it says, by a key that lives
    in this process only. A changed copy is none, and it cannot be carried elsewhere.
    """

    node: str
    fix: str
    plan: Plan
    evidence_sha256: Digest
    seal: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """`ToolError` unless `admit` made exactly this; the swap asks before it writes."""
        if type(self) is not Permit or not isinstance(self.seal, bytes):
            raise _forged()
        if not hmac.compare_digest(
            self.seal, _seal(self.node, self.fix, self.plan, self.evidence_sha256)
        ):
            raise _forged()

    def __reduce__(self) -> NoReturn:
        raise _forged()


def _seal(node: str, fix: str, plan: Plan, evidence: Digest) -> bytes:
    said = canonical_json((node, fix, plan, evidence))
    return hmac.digest(_KEY, said, hashlib.sha256)


def _forged() -> ToolError:
    return ToolError("making a Permit", "only hypotree.gate.admit() may make one")


@dataclass(frozen=True)
class _Objection:
    found: str
    next: str
    is_unasked: bool = False
    """Whether the question was not put yet: it stands in the way, but says nothing beside others."""


def admit(facts: GateFacts) -> Permit | Refusal:
    """Whether the fix may write: a Permit, or the first objection with the codes of all others."""
    objections = {code: why for code, check in _CHECKS if (why := check(facts)) is not None}
    if not objections and facts.plan is not None and facts.evidence_sha256 is not None:
        said = (facts.node, facts.fix, facts.plan, facts.evidence_sha256)
        return Permit(*said, seal=_seal(*said))
    asked = {code: why for code, why in objections.items() if not why.is_unasked}
    objections = asked or objections
    code = next(iter(objections))
    return Refusal(
        code=code,
        asked=f"apply {facts.fix} for {facts.node} ({facts.fault})",
        found=objections[code].found,
        next=objections[code].next,
        also=tuple(objections)[1:],
    )


def _finding(facts: GateFacts) -> Finding | None:
    return facts.evidence.finding(facts.fault) if facts.evidence else None


def _journal_broken(facts: GateFacts) -> _Objection | None:
    if facts.journal_problem:
        return _Objection(
            f"the journal does not verify: {facts.journal_problem}",
            "hypotree journal verify shows where; start a new session from the same files",
        )
    return None


def _unsafe_target(facts: GateFacts) -> _Objection | None:
    if facts.unsafe:
        return _Objection("; ".join(facts.unsafe), "work on a plain copy in a folder of your own")
    return None


def _no_evidence(facts: GateFacts) -> _Objection | None:
    if facts.evidence is None or facts.evidence_sha256 is None:
        return _Objection("its probe has not run", f"hypotree probe run --session … {facts.node}")
    if _finding(facts) is None:
        return _Objection(
            f"probe {facts.evidence.probe} says nothing about {facts.fault}",
            "bind a probe that decides this fault",
        )
    return None


def _stale_hypothesis(facts: GateFacts) -> _Objection | None:
    if facts.evidence and facts.evidence.hypothesis != facts.hypothesis_now:
        return _Objection(
            "the hypothesis was edited after its probe ran", f"run the probe of {facts.node} again"
        )
    return None


def _stale_probe(facts: GateFacts) -> _Objection | None:
    evidence = facts.evidence
    if evidence is None:
        return None
    if facts.code_now != evidence.code_sha256 or facts.version_now != evidence.version:
        return _Objection(
            f"probe {evidence.probe} is not the one that ran "
            f"({evidence.version}, code {evidence.code_sha256.short}…)",
            f"run the probe of {facts.node} again",
        )
    return None


def _stale_artifact(facts: GateFacts) -> _Objection | None:
    if facts.changed_reads:
        return _Objection(
            f"changed since the probe read it: {', '.join(facts.changed_reads)}",
            f"run the probe of {facts.node} again",
        )
    return None


def _verdict_is(verdict: Verdict, next_step: str) -> Callable[[GateFacts], _Objection | None]:
    def check(facts: GateFacts) -> _Objection | None:
        finding = _finding(facts)
        if finding is not None and finding.verdict is verdict:
            return _Objection(finding.why, next_step)
        return None

    return check


def _inconclusive(facts: GateFacts) -> _Objection | None:
    finding = _finding(facts)
    if finding is not None and finding.verdict in {Verdict.INCONCLUSIVE, Verdict.NOT_RUN}:
        return _Objection(finding.why, "give the artifact that decides it and run the probe again")
    return None


def _heuristic_only(facts: GateFacts) -> _Objection | None:
    finding = _finding(facts)
    if finding is None or finding.verdict is not Verdict.CONFIRMED:
        return None
    if finding.authority is not Authority.SOURCE_OF_TRUTH:
        return _Objection(
            f"only a guess from the suspect's own values: {finding.why}",
            "bind a source of truth that decides it",
        )
    return None


def _truth_not_independent(facts: GateFacts) -> _Objection | None:
    dependent = [f"{t.name} ({t.path}) is {t.dependence}" for t in facts.truths if t.dependence]
    if dependent:
        return _Objection("; ".join(dependent), "bind a truth with another origin")
    if not facts.truths and _finding(facts) is not None:
        return _Objection(
            "the fault shows in the suspect alone; no independent artifact says what is right",
            "bind the artifact that the right bytes come from",
        )
    return None


def _truth_not_approved(facts: GateFacts) -> _Objection | None:
    waiting = [f"{t.name} ({t.path}): {t.now}" for t in facts.truths if not t.is_approved]
    if waiting:
        return _Objection(
            f"no person has taken this content for a truth: {'; '.join(waiting)}",
            "hypotree approve --session … NAME, by a person",
        )
    return None


def _probe_cannot_fail(facts: GateFacts) -> _Objection | None:
    if facts.evidence is not None and facts.fault not in (facts.canary_faults or ()):
        return _Objection(
            f"probe {facts.evidence.probe} has not shown on this machine that it can confirm a "
            f"planted {facts.fault} and pass its healthy twin",
            "hypotree probe show NAME lists its cases; a probe without cases opens no gate",
            is_unasked=facts.canary_faults is None,
        )
    return None


def _rival_open(facts: GateFacts) -> _Objection | None:
    if facts.open_rivals:
        return _Objection(
            f"rivals without fresh evidence: {', '.join(facts.open_rivals)}",
            "run their probes; the session's policy asks for it",
        )
    return None


def _out_of_scope(facts: GateFacts) -> _Objection | None:
    if facts.out_of_scope:
        return _Objection(
            f"the change goes beyond what was declared: {', '.join(facts.out_of_scope)}",
            "declare it, or narrow the fix",
        )
    return None


def _does_not_flip(facts: GateFacts) -> _Objection | None:
    if facts.plan is None:
        why = facts.plan_problem or "no plan was made"
        return _Objection(why, "hypotree fix plan --session … NODE shows what can be done")
    own = next(
        (s for s in facts.staged or () if s.fault == facts.fault and _is_own(facts, s.probe)), None
    )
    if own is None or own.after is not Verdict.REFUTED:
        after = f"still {own.after}: {own.why}" if own else "not probed"
        return _Objection(
            f"on the staged view {facts.fault} is {after}",
            "this fix does not help",
            is_unasked=facts.staged is None,
        )
    return None


def _is_own(facts: GateFacts, probe: str) -> bool:
    return facts.evidence is not None and facts.evidence.probe == probe


def _breaks_other(facts: GateFacts) -> _Objection | None:
    broken = [f"{s.fault} ({s.why})" for s in facts.staged or () if s.is_broken]
    if broken:
        return _Objection(
            f"refuted before and confirmed on the staged view: {'; '.join(broken)}",
            "the fix would make a new fault",
        )
    return None


def _needs_approval(facts: GateFacts) -> _Objection | None:
    if facts.needs_approval and not facts.is_plan_approved:
        return _Objection(
            f"{facts.needs_approval}, and no person has agreed to this plan",
            "apply it at a terminal, or give the session's token",
        )
    return None


_CHECKS: Final[tuple[tuple[RefusalCode, Callable[[GateFacts], _Objection | None]], ...]] = (
    (RefusalCode.JOURNAL_BROKEN, _journal_broken),
    (RefusalCode.UNSAFE_TARGET, _unsafe_target),
    (RefusalCode.NO_EVIDENCE, _no_evidence),
    (RefusalCode.STALE_HYPOTHESIS, _stale_hypothesis),
    (RefusalCode.STALE_PROBE, _stale_probe),
    (RefusalCode.STALE_ARTIFACT, _stale_artifact),
    (RefusalCode.PROBE_INVALID, _verdict_is(Verdict.INVALID, "mend the probe and run it again")),
    (RefusalCode.NOT_EXERCISED, _verdict_is(Verdict.NOT_EXERCISED, "exercise it and run again")),
    (RefusalCode.INCONCLUSIVE, _inconclusive),
    (RefusalCode.REFUTED, _verdict_is(Verdict.REFUTED, "look for another cause")),
    (RefusalCode.HEURISTIC_ONLY, _heuristic_only),
    (RefusalCode.TRUTH_NOT_INDEPENDENT, _truth_not_independent),
    (RefusalCode.TRUTH_NOT_APPROVED, _truth_not_approved),
    (RefusalCode.PROBE_CANNOT_FAIL, _probe_cannot_fail),
    (RefusalCode.RIVAL_OPEN, _rival_open),
    (RefusalCode.OUT_OF_SCOPE, _out_of_scope),
    (RefusalCode.FIX_DOES_NOT_FLIP, _does_not_flip),
    (RefusalCode.FIX_BREAKS_OTHER, _breaks_other),
    (RefusalCode.NEEDS_APPROVAL, _needs_approval),
)
