"""What the gate would say to each fix now: asked for confirmed ones, in a session of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hypotree.diagnosis.playbook import Playbook
from hypotree.diagnosis.values import Diagnosed, FixAnswer, InputTaken
from hypotree.model.evidence import Evidence
from hypotree.model.refusal import RefusalCode
from hypotree.model.verdict import Authority, Verdict

#: The gate's answer where the verdict alone settles it (DESIGN section 8, the order of codes).
_BY_VERDICT: Final = {
    Verdict.REFUTED: RefusalCode.REFUTED,
    Verdict.INCONCLUSIVE: RefusalCode.INCONCLUSIVE,
    Verdict.NOT_RUN: RefusalCode.INCONCLUSIVE,
    Verdict.NOT_EXERCISED: RefusalCode.NOT_EXERCISED,
    Verdict.INVALID: RefusalCode.PROBE_INVALID,
    Verdict.CONFIRMED: RefusalCode.HEURISTIC_ONLY,
}


@dataclass(frozen=True)
class Asked:
    """One hypothesis with a fix that can write, and the evidence that decided it."""

    found: Diagnosed
    fix: str
    evidence: Evidence | None

    @property
    def is_open_to_fix(self) -> bool:
        """Whether only the gate itself can tell."""
        sure = self.found.authority is Authority.SOURCE_OF_TRUTH
        return self.found.verdict is Verdict.CONFIRMED and sure and self.evidence is not None

    def refused_by_verdict(self) -> FixAnswer:
        """The answer that its verdict settles."""
        code = _BY_VERDICT[self.found.verdict] if self.evidence else RefusalCode.NO_EVIDENCE
        return FixAnswer(self.fix, "refused", code)


def ask_gate(
    asked: Sequence[Asked], playbook: Playbook, inputs: Mapping[str, InputTaken]
) -> dict[str, FixAnswer]:
    """The gate's answer for each fault code; nothing is written but in a scratch folder."""
    answers = {a.found.fault: a.refused_by_verdict() for a in asked}
    confirmed = [a for a in asked if a.is_open_to_fix]
    if confirmed:
        from hypotree.diagnosis.gate_session import ask_all  # a session costs what most need not

        answers |= ask_all(confirmed, playbook, inputs)
    return answers
