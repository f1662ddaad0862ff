"""draft-replay: how much of a recorded sample the drafter would get accepted, as it is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from hypotree.errors import MisuseError
from hypotree.model.evidence import Finding, Locator, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree_probes.eagle3.acceptance_verdicts import (
    AT_FLOOR,
    COLLAPSE,
    FLOOR,
    NOT_EXERCISED,
    is_collapsed,
)

if TYPE_CHECKING:
    from hypotree_probes.eagle3.reference import Acceptance
    from hypotree_probes.eagle3.served import Served

_DRAFTED = 4
_WORTH = 0.1


class DraftReplay(Probe):
    """Serves a recorded sample greedily through the reference forward of facts/eagle3.md section 4.

    What the engine's rules would not load keeps a seeded random value, and the
    states are handed over in the width that the trace shows: the served path,
    as far as the given artifacts tell it. With the parameter `what_if` set to 1,
    counterfactuals are replayed beside it: a dozen replays more.
    """

    name: ClassVar[str] = "draft-replay"
    title: ClassVar[str] = "acceptance of a recorded sample, replayed through the served path"
    version: ClassVar[str] = "2"
    isolated: ClassVar[bool] = True
    takes: ClassVar[tuple[Input, ...]] = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input(
            "sample",
            "sample",
            Role.OBSERVATION,
            "tokens and hidden states of the target",
            is_required=True,
        ),
        Input("target", "checkpoint", Role.TRUTH, "the target, for its token embeddings"),
        Input("engine", "engine", Role.TRUTH, "the engine, for what it would load"),
        Input("trace", "trace", Role.OBSERVATION, "a trace, for the states that were handed over"),
    )
    decides: ClassVar[tuple[Fault, ...]] = (
        Fault(
            AT_FLOOR,
            "almost no drafted token is accepted",
            fix="",
            is_symptom=True,
            advice="a symptom: look for its cause",
        ),
        Fault(
            NOT_EXERCISED,
            "nothing was drafted, so acceptance says nothing",
            fix="",
            is_symptom=True,
        ),
        Fault(
            COLLAPSE,
            "the first draft position is accepted and later ones are not",
            fix="",
            is_symptom=True,
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Replay the sample, judge the accept length against the floor, and try what would help."""
        from hypotree_probes.eagle3.served import serve

        steps = context.params.get("num_draft", _DRAFTED)
        if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= 64:
            raise MisuseError("replaying a sample", f"num_draft is {steps!r}", "1 to 64")
        served = serve(context, steps)
        found = served.path.acceptance() if len(served.path.tokens) > steps + 2 else None
        if found is None or not found.verify_steps:
            context.summary = "the sample is too short to draft on"
            return _not_exercised()
        context.measure("accept_length", round(found.accept_length, 4))
        context.measure("verify_steps", found.verify_steps)
        for step, rate in enumerate(found.per_position):
            context.measure(f"position_{step}", round(rate, 4))
        context.summary = f"accept length {found.accept_length:.2f}; {served.how}"
        findings = _judged(found)
        if context.params.get("what_if"):
            _try_changes(context, served, found)
        elif any(f.verdict is Verdict.CONFIRMED for f in findings):
            context.summary += "; --param what_if=1 tries what would change it"
        return findings

    def cases(self) -> Sequence[Case]:
        """A drafter that wrote its own sample, and the same with one thing broken."""
        from hypotree_probes.eagle3.draft_replay_cases import CASES

        return CASES


def _judged(found: Acceptance) -> list[Finding]:
    exercised = Finding(
        NOT_EXERCISED,
        Verdict.REFUTED,
        Authority.SOURCE_OF_TRUTH,
        f"{found.drafted} tokens were drafted in {found.verify_steps} steps",
    )
    dead = found.accept_length < FLOOR
    why = (
        f"accept length {found.accept_length:.2f} ({found.accepted} of {found.drafted} drafted tokens "
        f"accepted), {'below' if dead else 'not below'} {FLOOR:.2f}, where 1.00 means none"
    )
    shown = "rates by position " + ", ".join(f"{rate:.3f}" for rate in found.per_position[:16])
    fallen = is_collapsed(found.per_position)
    shown += f": position {fallen} collapses" if fallen else ": no position collapses"
    return [
        _finding(AT_FLOOR, why, is_so=dead),
        exercised,
        _finding(COLLAPSE, shown, is_so=bool(fallen)),
    ]


def _finding(code: str, why: str, *, is_so: bool) -> Finding:
    verdict = Verdict.CONFIRMED if is_so else Verdict.REFUTED
    where = (Locator("sample"),)
    return Finding(code, verdict, Authority.SOURCE_OF_TRUTH, why, where, truth=("sample",))


def _try_changes(context: ProbeContext, served: Served, found: Acceptance) -> None:
    """A table of counterfactuals, best first, and of teacher-forced positions."""
    from hypotree_probes.eagle3.what_if import teacher_forced, what_ifs

    tried = []
    for number, tried_one in enumerate(what_ifs(served), start=1):
        context.advance(number, number)
        tried.append(tried_one)
    done = [(w.change, w.acceptance) for w in tried if w.acceptance]
    done.sort(key=lambda pair: -pair[1].accept_length)
    rows: list[tuple[str, float | None, float | None, str]] = [
        (change, round(a.accept_length, 3), round(a.per_position[0], 3), "")
        for change, a in [("as served", found), *done]
    ]
    rows += [(w.change, None, None, w.why_not) for w in tried if w.acceptance is None]
    columns = ("change", "accept length", "position 1", "not replayed")
    context.show(Table("What would change it", columns, tuple(rows)))
    forced = teacher_forced(served.path)
    positions = zip(found.per_position, forced, strict=True)
    chained = tuple((k, round(a, 3), round(b, 3)) for k, (a, b) in enumerate(positions, start=1))
    context.show(Table("By position", ("position", "chained", "teacher-forced"), chained))
    if done and done[0][1].accept_length > max(found.accept_length + _WORTH, FLOOR):
        change, best = done[0]
        context.measure("best_change_accept_length", round(best.accept_length, 4))
        context.summary += f"; with {change} it would be {best.accept_length:.2f}"


def _not_exercised() -> list[Finding]:
    why = "0 tokens were drafted"
    return [
        Finding(AT_FLOOR, Verdict.NOT_EXERCISED, Authority.NONE, why),
        Finding(NOT_EXERCISED, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why),
        Finding(COLLAPSE, Verdict.NOT_EXERCISED, Authority.NONE, why),
    ]
