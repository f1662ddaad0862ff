"""Over every combination of evidence states: a Permit exactly where everything is right. Rules 2 to 6."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gate_facts import FAULT, FLIPS, GOOD_TRUTH, PLAN, evidence, facts
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hypotree.digest import Digest
from hypotree.gate import GateFacts, Permit, admit
from hypotree.model.fix import StagedFinding
from hypotree.model.refusal import Refusal
from hypotree.model.verdict import Authority, Verdict

OTHER = Digest.of(b"other")
BREAKS = StagedFinding("other", "x.y", Verdict.REFUTED, Verdict.CONFIRMED)
STALE: dict[str, dict[str, Any]] = {
    "fresh": {}, "hypothesis": {"hypothesis_now": OTHER}, "probe code": {"code_now": OTHER},
    "probe gone": {"code_now": None}, "probe version": {"version_now": "2"},
    "artifact": {"changed_reads": ("draft: d2t",)},
}  # fmt: skip
TRUTHS = {
    "good": (GOOD_TRUTH,),
    "none": (),
    "copy": (replace(GOOD_TRUTH, dependence="a copy"),),
    "unapproved": (replace(GOOD_TRUTH, is_approved=False),),
    "good and copy": (GOOD_TRUTH, replace(GOOD_TRUTH, name="target", dependence="a link")),
    "good and unapproved": (GOOD_TRUTH, replace(GOOD_TRUTH, name="target", is_approved=False)),
}


@dataclass(frozen=True)
class State:
    """One point of the space."""

    verdict: Verdict | None = Verdict.CONFIRMED
    authority: Authority = Authority.SOURCE_OF_TRUTH
    stale: str = "fresh"
    truth: str = "good"
    canary: tuple[str, ...] | None = (FAULT,)
    after: Verdict | None = Verdict.REFUTED
    probes: str = "acme"
    breaks: bool = False
    journal: str = ""
    unsafe: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    has_plan: bool = True
    needs_approval: bool = True
    approved: bool = True

    @property
    def is_right(self) -> bool:
        """What DESIGN asks of a write, said once more and independently of the gate's code."""
        return (
            self.verdict is Verdict.CONFIRMED
            and self.authority is Authority.SOURCE_OF_TRUTH
            and self.stale == "fresh"
            and self.truth == "good"
            and self.canary is not None
            and FAULT in self.canary
            and (self.after, self.probes, self.breaks) == (Verdict.REFUTED, "acme", False)
            and not (self.journal or self.unsafe or self.rivals or self.scope)
            and self.has_plan
            and (self.approved or not self.needs_approval)
        )

    def facts(self) -> GateFacts:
        own = StagedFinding(self.probes, FAULT, Verdict.CONFIRMED, self.after or Verdict.INVALID)
        staged = None if self.after is None else (own, *([BREAKS] if self.breaks else []))
        found = None if self.verdict is None else evidence(self.verdict, self.authority)
        return facts(
            evidence=found,
            evidence_sha256=None if found is None else FLIP_RECORD,
            truths=TRUTHS[self.truth],
            canary_faults=self.canary,
            staged=staged,
            journal_problem=self.journal,
            unsafe=self.unsafe,
            open_rivals=self.rivals,
            out_of_scope=self.scope,
            plan=PLAN if self.has_plan else None,
            needs_approval="the policy" if self.needs_approval else "",
            is_plan_approved=self.approved,
            **STALE[self.stale],
        )


FLIP_RECORD = Digest.of(b"record")
assert FLIPS.after is Verdict.REFUTED

STATES = st.builds(
    State,
    verdict=st.sampled_from([Verdict.CONFIRMED] * 6 + [*Verdict, None]),
    authority=st.sampled_from([Authority.SOURCE_OF_TRUTH] * 4 + [*Authority]),
    stale=st.sampled_from(["fresh"] * 5 + [*STALE]),
    truth=st.sampled_from(["good"] * 5 + [*TRUTHS]),
    canary=st.sampled_from([(FAULT,), (FAULT,), (FAULT, "x.y"), (), ("x.y",), None]),
    after=st.sampled_from([Verdict.REFUTED] * 5 + [*Verdict, None]),
    probes=st.sampled_from(["acme", "acme", "acme", "other"]),
    breaks=st.sampled_from([False, False, True]),
    journal=st.sampled_from(["", "", "line 1: changed"]),
    unsafe=st.sampled_from([(), (), ("a link",)]),
    rivals=st.sampled_from([(), (), ("H2",)]),
    scope=st.sampled_from([(), (), ("lm_head.weight",)]),
    has_plan=st.sampled_from([True, True, True, False]),
    needs_approval=st.booleans(),
    approved=st.booleans(),
)


@settings(max_examples=1000, deadline=None)
@given(STATES)
@example(State())
@example(State(needs_approval=False, approved=False))
def test_a_permit_is_given_exactly_where_everything_is_right(state: State) -> None:
    decision = admit(state.facts())
    assert isinstance(decision, Permit) == state.is_right
    if isinstance(decision, Refusal):
        assert decision.found
        assert decision.next
        assert decision.code not in decision.also


def test_every_verdict_authority_staleness_and_truth_alone_and_in_pairs() -> None:
    """The four that a forger would turn, exhaustively: 7 x 3 x 6 x 6 states."""
    permits = [
        state
        for verdict in [*Verdict, None]
        for authority in Authority
        for stale in STALE
        for truth in TRUTHS
        if isinstance(admit((state := State(verdict, authority, stale, truth)).facts()), Permit)
    ]
    assert permits == [State()]
