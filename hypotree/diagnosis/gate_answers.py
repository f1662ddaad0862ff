"""What the gate would say to each fix now: asked for confirmed ones, in a session of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from hypotree.diagnosis.declaring import declare, hypothesis
from hypotree.diagnosis.playbook import Playbook
from hypotree.diagnosis.values import Diagnosed, FixAnswer, InputTaken
from hypotree.errors import HypotreeError
from hypotree.gate import Permit
from hypotree.model.event import Actor
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
        with tempfile.TemporaryDirectory(prefix="hypotree-gate-") as scratch:
            answers |= _ask_all(Path(scratch), confirmed, playbook, inputs)
    return answers


def _ask_all(
    folder: Path, asked: Sequence[Asked], playbook: Playbook, inputs: Mapping[str, InputTaken]
) -> dict[str, FixAnswer]:
    used = {r.path for a in asked if a.evidence for r in a.evidence.inputs}
    thin = {n: _thin(i, asked) for n, i in inputs.items() if i.path in used}
    session = declare(folder, thin, "asked by diagnose", "auto", Actor("cli"))
    answers = {}
    for number, one in enumerate(asked):
        assert one.evidence is not None
        node = f"H{number}"
        plan = playbook.plan(one.evidence.probe)
        session.add(node, hypothesis(one.found, one.evidence, plan, thin))
        try:
            session.run(node)
            decision = session.plan(node).decision
        except (HypotreeError, OSError):
            answers[one.found.fault] = FixAnswer(one.fix, "refused", RefusalCode.NO_EVIDENCE)
            continue
        allowed = isinstance(decision, Permit)
        code = None if isinstance(decision, Permit) else decision.code
        answers[one.found.fault] = FixAnswer(one.fix, "allowed" if allowed else "refused", code)
    return answers


def _thin(taken: InputTaken, asked: Sequence[Asked]) -> InputTaken:
    """A target that is no truth of these findings by its config alone: a session digests all of it."""
    config = Path(taken.path, "config.json")
    is_truth = any(taken.name in one.found.truth for one in asked)
    if taken.name == "target" and not is_truth and config.is_file():
        return replace(taken, path=str(config))
    return taken
