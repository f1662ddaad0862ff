"""The verdict on each d2t.* code; one function a code, facts in, finding out."""

from __future__ import annotations

from hypotree.model.edit import InsertTensor, MapFrom, MinusArange, ReplaceTensor
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run
from hypotree_probes.eagle3.d2t_facts import D2tFacts, Relation, relation

_TRUTH = ("truth",)
_NO_MAP = "the checkpoint holds no d2t"
_STORIES: dict[Relation, str] = {
    "offsets": "every value is target id - draft id",
    "absolute": "every value is the target id itself, so an engine adds the draft id once too often",
    "double-subtracted": "every value is target id - 2 x draft id: the draft id was subtracted from "
    "a map that held offsets already",
    "unset": "every value is 0, as in a buffer that was never loaded",
    "other": "the values are no simple form of it",
    "other-length": "it has another length",
}


def absolute_ids(facts: D2tFacts) -> Finding:
    """d2t.absolute-ids: values are target ids where engines expect offsets."""
    return _form(facts, "d2t.absolute-ids", "absolute")


def double_subtracted(facts: D2tFacts) -> Finding:
    """d2t.double-subtracted: a correct map was "converted" once more."""
    return _form(facts, "d2t.double-subtracted", "double-subtracted")


def _form(facts: D2tFacts, code: str, form: Relation) -> Finding:
    if facts.stored is None:
        return not_run(code, _unreadable(facts))
    targets, origin = facts.reference()
    if targets is None:
        return _form_alone(facts, code, form)
    found = relation(facts.stored, targets)
    why = f"against {_origin(facts)}: {_STORIES[found]}{_sample(facts, targets)}{_count(facts, targets, found)}"
    truth = _TRUTH if origin == "truth" else ()
    if found == form:
        return _confirmed(facts, code, why, truth, _repair(facts, form))
    return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, truth=truth)


def _count(facts: D2tFacts, targets: tuple[int, ...], found: Relation) -> str:
    """In numbers, how far a correct map is from one of absolute ids."""
    if found != "offsets" or facts.stored is None:
        return ""
    count, last = len(targets), len(targets) - 1
    repeats = count - len(set(facts.stored))
    again = f", and {repeats} of them repeat an earlier one, as ids never do" if repeats else ""
    return (
        f" ({count} of {count}{again}); draft id {last} stores {facts.stored[last]} and goes to "
        f"{targets[last]}"
    )


def _form_alone(facts: D2tFacts, code: str, form: Relation) -> Finding:
    """Without a reference: what the values alone exclude, and no more."""
    stored = facts.stored or ()
    if form == "double-subtracted":
        wrong = _out_of_range(facts)
        if not wrong:
            return not_run(code, "only the source map can tell; give --vocab-map")
        why = f"{len(wrong)} target ids are out of range; the source map can tell why"
        return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, f"{why}; give --vocab-map")
    if (repeats := len(stored) - len(set(stored))) > 0:
        why = f"{repeats} of {len(stored)} values repeat an earlier one; absolute ids never repeat"
        return Finding(code, Verdict.REFUTED, Authority.HEURISTIC, why)
    if min(stored, default=0) < 0:
        return Finding(
            code, Verdict.REFUTED, Authority.HEURISTIC, "values are negative; ids never are"
        )
    hint = " (as absolute ids they would all be in range)" if _out_of_range(facts) else ""
    why = f"every value can be an offset or an id{hint}; give --vocab-map to decide"
    return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, why)


def missing(facts: D2tFacts) -> Finding:
    """d2t.missing: the engine takes draft ids for target ids."""
    code = "d2t.missing"
    if facts.present:
        return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, f"{facts.key} is there")
    if facts.is_reduced is False:
        why = (
            f"the draft vocabulary is the target's whole one ({facts.vocabulary}): no map is needed"
        )
        return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why)
    targets = facts.truth.targets if facts.truth else None
    if targets is None:
        why = f"no d2t, and {_size_words(facts)}; give --vocab-map to decide"
        return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, why)
    moved = sum(t != i for i, t in enumerate(targets))
    if not moved:
        why = "no d2t, and the map is the identity: none is needed"
        return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, truth=_TRUTH)
    why = (
        f"no d2t, so an engine takes draft ids for target ids: wrong for {moved} of {len(targets)} "
        f"by {_origin(facts)}"
    )
    edit = InsertTensor(facts.key, MapFrom("truth"))
    return _confirmed(facts, code, why, _TRUTH, (edit,) if _fits(facts, targets) else ())


def never_loaded(facts: D2tFacts) -> Finding:
    """d2t.never-loaded: all zeros, the default buffer of all four producers."""
    code = "d2t.never-loaded"
    if facts.stored is None:
        return not_run(code, _unreadable(facts))
    if any(facts.stored):
        count = sum(v != 0 for v in facts.stored)
        why = f"{count} of {len(facts.stored)} values are not 0"
        return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why)
    targets, origin = facts.reference()
    if targets is not None and (origin == "truth" or len(targets) == len(facts.stored)):
        return _never_loaded_against(facts, targets, origin)
    if facts.is_reduced is False:
        why = f"all zeros are right: the draft vocabulary is the whole one ({facts.vocabulary})"
        return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why)
    why = f"all {len(facts.stored)} values are 0, and {_size_words(facts)}"
    if facts.is_reduced is None:
        return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, why)
    return Finding(code, Verdict.CONFIRMED, Authority.HEURISTIC, why, _at(facts, 0))


def _never_loaded_against(facts: D2tFacts, targets: tuple[int, ...], origin: str) -> Finding:
    code, truth = "d2t.never-loaded", _TRUTH if origin == "truth" else ()
    moved = sum(t != i for i, t in enumerate(targets))
    if not moved:
        why = f"all zeros are right: {_origin(facts)} is the identity"
        return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, truth=truth)
    why = f"all values are 0, where {_origin(facts)} moves {moved} of {len(targets)} ids"
    return _confirmed(facts, code, why, truth, _repair(facts, "unset"))


def disagrees_with_source(facts: D2tFacts) -> Finding:
    """d2t.disagrees-with-source: other ids than the source map's, and no other form of it either."""
    code = "d2t.disagrees-with-source"
    if facts.truth is None:
        return not_run(code, "give --vocab-map to decide")
    if facts.stored is None:
        return not_run(code, _unreadable(facts))
    if facts.truth.targets is None:
        why = f"the truth's own form is not clear: {facts.truth.why}; say --truth-form"
        return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, why)
    targets = facts.truth.targets
    found = relation(facts.stored, targets)
    if found not in {"other", "other-length"}:
        why = f"{_STORIES[found]} ({len(targets)} compared)"
        return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, truth=_TRUTH)
    if found == "other-length":
        why = f"it has {len(facts.stored)} values, {_origin(facts)} has {len(targets)}"
    else:
        wrong = sum(a != b for a, b in zip(facts.targets, targets, strict=True))
        why = f"{wrong} of {len(targets)} target ids differ from {_origin(facts)}"
    return _confirmed(facts, code, why + _sample(facts, targets), _TRUTH, _repair(facts, found))


def _confirmed(
    facts: D2tFacts,
    code: str,
    why: str,
    truth: tuple[str, ...],
    remedy: tuple[ReplaceTensor | InsertTensor, ...],
) -> Finding:
    first = first_difference(facts)
    return Finding(
        code, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, _at(facts, first), truth, remedy
    )


def _repair(facts: D2tFacts, found: Relation) -> tuple[ReplaceTensor | InsertTensor, ...]:
    """Restore from the truth; absolute ids can be repaired from themselves, once confirmed."""
    if facts.truth is not None and facts.truth.targets is not None and found != "other-length":
        return (ReplaceTensor(facts.key, MapFrom("truth")),)
    return (ReplaceTensor(facts.key, MinusArange(facts.key)),) if found == "absolute" else ()


def first_difference(facts: D2tFacts) -> int:
    """The first draft id whose target id is not the reference's; 0 if none is known."""
    targets, _ = facts.reference()
    pairs = enumerate(zip(facts.targets, targets or (), strict=False))
    return next((i for i, (mine, right) in pairs if mine != right), 0)


def _sample(facts: D2tFacts, targets: tuple[int, ...]) -> str:
    at = first_difference(facts)
    if (
        facts.stored is None
        or at >= len(targets)
        or facts.targets[at : at + 1] == targets[at : at + 1]
    ):
        return ""
    return f"; draft id {at} stores {facts.stored[at]}, so goes to {facts.targets[at]}, not {targets[at]}"


def _at(facts: D2tFacts, element: int) -> tuple[Locator, ...]:
    return (Locator("draft", tensor=facts.key, element=element),)


def _origin(facts: D2tFacts) -> str:
    return f"the source map ({facts.truth.form})" if facts.truth else "the checkpoint's own t2d"


def _fits(facts: D2tFacts, targets: tuple[int, ...]) -> bool:
    return (facts.head_rows or len(targets)) == len(targets)


def _out_of_range(facts: D2tFacts) -> list[int]:
    top = facts.vocabulary
    return [i for i, t in enumerate(facts.targets) if t < 0 or (top is not None and t >= top)]


def _size_words(facts: D2tFacts) -> str:
    size = facts.draft_vocabulary or facts.head_rows
    if size is None or facts.vocabulary is None:
        return "the vocabulary sizes are not known"
    return f"the draft vocabulary ({size}) is smaller than the target's ({facts.vocabulary})"


def _unreadable(facts: D2tFacts) -> str:
    return f"{facts.key} is of dtype {facts.dtype}, no map of ids" if facts.present else _NO_MAP
