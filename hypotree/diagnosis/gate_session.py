"""Ask the gate itself, in a scratch session: the probes run again there, and nothing else is written."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from hypotree.diagnosis.declaring import declare, hypothesis
from hypotree.diagnosis.gate_answers import Asked
from hypotree.diagnosis.playbook import Playbook
from hypotree.diagnosis.values import FixAnswer, InputTaken
from hypotree.errors import HypotreeError
from hypotree.gate import Permit
from hypotree.model.event import Actor
from hypotree.model.refusal import RefusalCode


def ask_all(
    asked: Sequence[Asked], playbook: Playbook, inputs: Mapping[str, InputTaken]
) -> dict[str, FixAnswer]:
    """The gate's answer for each fault code."""
    with tempfile.TemporaryDirectory(prefix="hypotree-gate-") as scratch:
        return _ask_all(Path(scratch), asked, playbook, inputs)


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
