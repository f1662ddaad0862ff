"""draft-replay: how much of a recorded sample the drafter would get accepted, as it is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from hypotree.errors import MisuseError
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree_probes.eagle3.acceptance_verdicts import FLOOR

if TYPE_CHECKING:
    from hypotree_probes.eagle3.reference import Acceptance

_DRAFTED = 4


class DraftReplay(Probe):
    """Serves a recorded sample greedily through the reference forward of facts/eagle3.md section 4.

    What the engine's rules would not load keeps a seeded random value, and the
    states are handed over in the width that the trace shows: the served path,
    as far as the given artifacts tell it.
    """

    name: ClassVar[str] = "draft-replay"
    title: ClassVar[str] = "acceptance of a recorded sample, replayed through the served path"
    version: ClassVar[str] = "1"
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
            "acceptance.at-floor",
            "almost no drafted token is accepted",
            is_symptom=True,
            advice="a symptom: look for its cause",
        ),
        Fault(
            "acceptance.not-exercised",
            "nothing was drafted, so acceptance says nothing",
            is_symptom=True,
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Replay the sample and judge the accept length against the floor."""
        from hypotree_probes.eagle3.served import serve

        steps = context.params.get("num_draft", _DRAFTED)
        if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= 64:
            raise MisuseError("replaying a sample", f"num_draft is {steps!r}", "1 to 64")
        served = serve(context, steps)
        found = served.acceptance
        if not found.verify_steps:
            context.summary = "the sample is too short to draft on"
            return _not_exercised()
        context.measure("accept_length", round(found.accept_length, 4))
        context.measure("verify_steps", found.verify_steps)
        for step, rate in enumerate(found.per_position):
            context.measure(f"position_{step}", round(rate, 4))
        context.summary = f"accept length {found.accept_length:.2f}; {served.how}"
        return _judged(found)

    def cases(self) -> Sequence[Case]:
        """A symptom opens no gate; its planted case is the incident itself."""
        return ()


def _judged(found: Acceptance) -> list[Finding]:
    exercised = Finding(
        "acceptance.not-exercised",
        Verdict.REFUTED,
        Authority.SOURCE_OF_TRUTH,
        f"{found.drafted} tokens were drafted in {found.verify_steps} steps",
    )
    dead = found.accept_length < FLOOR
    why = (
        f"accept length {found.accept_length:.2f} ({found.accepted} of {found.drafted} drafted tokens "
        f"accepted), {'below' if dead else 'not below'} {FLOOR:.2f}, where 1.00 means none"
    )
    floor = Finding(
        "acceptance.at-floor",
        Verdict.CONFIRMED if dead else Verdict.REFUTED,
        Authority.SOURCE_OF_TRUTH,
        why,
        (Locator("sample"),),
        truth=("sample",),
    )
    return [floor, exercised]


def _not_exercised() -> list[Finding]:
    why = "0 tokens were drafted"
    return [
        Finding("acceptance.at-floor", Verdict.NOT_EXERCISED, Authority.NONE, why),
        Finding("acceptance.not-exercised", Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why),
    ]
