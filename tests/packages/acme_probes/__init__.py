"""A stranger's probes: one that does what its parameter `say` tells, and some that are ill-made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.vocabulary_map import VocabularyMap
from hypotree.model.edit import MapFrom, ReplaceTensor
from hypotree.model.evidence import Finding, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree_probes.planting import blank, ids, plant_checkpoint, safetensors_bytes

RIGHT = [0, 1, 3, 6]
WRONG = [0, 0, 1, 3]


def _plant(values: list[int]) -> object:
    def plant(folder: Path) -> Mapping[str, str]:
        truth = folder / "truth.safetensors"
        truth.write_bytes(safetensors_bytes({"d2t": ids(RIGHT)}))
        tensors = {"d2t": ids(values), "lm_head.weight": blank("BF16", 4, 2)}
        draft = plant_checkpoint(folder, tensors, {"vocab_size": 16, "draft_vocab_size": 4})
        return {"draft": draft, "truth": str(truth)}

    return plant


_GOOD = Case("acme.wrong", _plant(WRONG), _plant(RIGHT))

_SAYS = {
    "confirmed": (Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH),
    "heuristic": (Verdict.CONFIRMED, Authority.HEURISTIC),
    "authority-none": (Verdict.CONFIRMED, Authority.NONE),
    "refuted": (Verdict.REFUTED, Authority.SOURCE_OF_TRUTH),
    "inconclusive": (Verdict.INCONCLUSIVE, Authority.NONE),
    "not-exercised": (Verdict.NOT_EXERCISED, Authority.NONE),
    "invalid": (Verdict.INVALID, Authority.NONE),
    "not-run": (Verdict.NOT_RUN, Authority.NONE),
}


class Dial(Probe):
    """Compares d2t with the truth, or says and does what `say` tells."""

    name: ClassVar[str] = "acme-dial"
    title: ClassVar[str] = "a dial"
    version: ClassVar[str] = "1"
    takes: ClassVar[tuple[Input, ...]] = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft", is_required=True),
        Input("truth", "vocabulary-map", Role.TRUTH, "the map"),
        Input("log", "log", Role.OBSERVATION, "a log"),
    )
    decides: ClassVar[tuple[Fault, ...]] = (
        Fault("acme.wrong", "the map is wrong", "restore-tensor"),
        Fault("acme.other", "something else is wrong", "restore-tensor"),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding, or worse."""
        say = str(context.params.get("say", "honest"))
        if say == "blind":
            return [Finding("acme.wrong", *_SAYS["confirmed"], "unseen", (), ("truth",))]
        mine = context.need("draft", Checkpoint).tensor("d2t")
        truth = context.get("truth", VocabularyMap)
        other = truth.stored().d2t if truth else None
        self.misbehave(say, context)
        if say in _SAYS:
            verdict, authority = _SAYS[say]
        elif other is None or mine is None:
            verdict, authority = Verdict.INCONCLUSIVE, Authority.NONE
        else:
            is_right = mine.data == other.data
            verdict = Verdict.REFUTED if is_right else Verdict.CONFIRMED
            authority = Authority.SOURCE_OF_TRUTH
        named = ("truth",) if truth and say != "by-definition" else ()
        remedy = (ReplaceTensor("d2t", MapFrom("truth")),)
        return self.said(
            say, Finding("acme.wrong", verdict, authority, f"it says {say}", (), named, remedy)
        )

    def misbehave(self, say: str, context: ProbeContext) -> None:
        """What no probe should do."""
        if say == "crash":
            message = "the probe fell over"
            raise RuntimeError(message)
        if say == "nan":
            context.measure("accept_length", float("nan"))
        if say == "object":
            context.show(Table("t", ("c",), ((object(),),)))  # type: ignore[arg-type]

    def said(self, say: str, finding: Finding) -> Sequence[Finding]:
        """The finding, unless it is to be forgotten, doubled or made up."""
        if say == "forget":
            return []
        if say == "twice":
            return [finding, finding]
        if say == "made-up":
            return [finding, Finding("acme.undeclared", *_SAYS["confirmed"], "made up")]
        return [finding]

    def cases(self) -> Sequence[Case]:
        """A planted fault and its twin."""
        return (_GOOD,)


class Witness(Dial):
    """Takes the right map for a fault: what `Dial` wants, it minds."""

    name: ClassVar[str] = "acme-witness"
    decides: ClassVar[tuple[Fault, ...]] = (Fault("acme.witness", "the map is right"),)

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Confirmed where the first values are right."""
        mine = context.need("draft", Checkpoint).tensor("d2t")
        is_right = mine is not None and mine.integers()[:4] == RIGHT
        verdict = Verdict.CONFIRMED if is_right else Verdict.REFUTED
        return [Finding("acme.witness", verdict, Authority.SOURCE_OF_TRUTH, "it minds")]


class NoCases(Dial):
    """Never shown to be able to fail."""

    name: ClassVar[str] = "acme-no-cases"

    def cases(self) -> Sequence[Case]:
        """None."""
        return ()


class CannotFail(Dial):
    """Its healthy twin is no healthier than its planted fault."""

    name: ClassVar[str] = "acme-cannot-fail"

    def cases(self) -> Sequence[Case]:
        """Two planted faults."""
        return (Case("acme.wrong", _plant(WRONG), _plant(WRONG)),)


def _cannot_plant(folder: Path) -> Mapping[str, str]:
    raise PermissionError(str(folder))


class BadCase(Dial):
    """Its case cannot even be planted."""

    name: ClassVar[str] = "acme-bad-case"

    def cases(self) -> Sequence[Case]:
        """One that raises."""
        return (Case("acme.wrong", _cannot_plant, _plant(RIGHT)),)


class Stubborn(Dial):
    """Honest about its cases, and sees the fault in the user's file whatever is done to it."""

    name: ClassVar[str] = "acme-stubborn"

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Confirmed, but for its own twin."""
        found = list(super().run(context))
        if context.params.get("stubborn"):
            return [
                Finding(f.fault, *_SAYS["confirmed"], "always", (), f.truth, f.remedy)
                for f in found
            ]
        return found
