"""The d2t.* codes that the format's own definition decides, without any other artifact."""

from __future__ import annotations

from collections import Counter

from hypotree.model.edit import MapFrom, ReplaceTensor
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run
from hypotree_probes.eagle3.d2t_facts import D2tFacts, relation


def out_of_range(facts: D2tFacts) -> Finding:
    """d2t.out-of-range: a target id outside [0, vocabulary)."""
    code = "d2t.out-of-range"
    if facts.stored is None:
        return not_run(code, "there is no map of ids")
    top = facts.vocabulary
    wrong = [i for i, t in enumerate(facts.targets) if t < 0 or (top is not None and t >= top)]
    if wrong:
        at = wrong[0]
        bound = f"[0, {top})" if top is not None else "the non-negative ids"
        why = f"{len(wrong)} target ids are outside {bound}; draft id {at} goes to {facts.targets[at]}"
        return _confirmed(facts, code, why, at)
    if top is None:
        return Finding(
            code, Verdict.INCONCLUSIVE, Authority.NONE, "the vocabulary size is not known"
        )
    low, high = min(facts.targets, default=0), max(facts.targets, default=0)
    return _refuted(code, f"target ids run from {low} to {high}, inside [0, {top})")


def duplicate_targets(facts: D2tFacts) -> Finding:
    """d2t.duplicate-targets: two draft ids share a target id; on vLLM the last one wins."""
    code = "d2t.duplicate-targets"
    if facts.stored is None:
        return not_run(code, "there is no map of ids")
    counts = Counter(facts.targets)
    extra = len(facts.targets) - len(counts)
    if not extra:
        return _refuted(code, f"all {len(counts)} target ids are different")
    target = next(t for t in facts.targets if counts[t] > 1)
    where = [i for i, t in enumerate(facts.targets) if t == target]
    why = f"{extra} target ids repeat an earlier one; draft ids {where[0]} and {where[1]} both go to {target}"
    return _confirmed(facts, code, why, where[1])


def length_mismatch(facts: D2tFacts) -> Finding:
    """d2t.length-mismatch: as many values as lm_head has rows and draft_vocab_size says."""
    code = "d2t.length-mismatch"
    if facts.stored is None:
        return not_run(code, "there is no map of ids")
    length = len(facts.stored)
    sizes = {"draft_vocab_size": facts.draft_vocabulary, "lm_head rows": facts.head_rows}
    known = {name: size for name, size in sizes.items() if size is not None}
    wrong = [f"{name} {size}" for name, size in known.items() if size != length]
    if wrong:
        return _confirmed(
            facts, code, f"d2t has {length} values, but {' and '.join(wrong)}", length - 1
        )
    if not known:
        return Finding(
            code, Verdict.INCONCLUSIVE, Authority.NONE, "no size is known to compare with"
        )
    return _refuted(code, f"{length} values, as {' and '.join(known)}")


def dtype(facts: D2tFacts) -> Finding:
    """d2t.dtype: ids are integers."""
    code = "d2t.dtype"
    if not facts.present:
        return not_run(code, "the checkpoint holds no d2t")
    if facts.stored is None:
        why = f"d2t is stored as {facts.dtype}: ids must be integers (the producers save I64)"
        return _confirmed(facts, code, why, 0)
    return _refuted(code, f"d2t is stored as {facts.dtype}")


def disagrees_with_t2d(facts: D2tFacts) -> Finding:
    """d2t.disagrees-with-t2d: t2d marks exactly the ids that d2t names, one True each."""
    code = "d2t.disagrees-with-t2d"
    if facts.marked is None:
        return not_run(code, "the checkpoint holds no t2d")
    if facts.stored is None:
        return not_run(code, "there is no map of ids")
    problems = _t2d_problems(facts, facts.marked, facts.stored)
    if problems:
        return _confirmed(facts, code, "; ".join(problems), 0, tensor=_t2d_key(facts))
    return _refuted(code, f"t2d marks the {len(facts.marked)} target ids of d2t, in order")


def _t2d_problems(facts: D2tFacts, marked: tuple[int, ...], stored: tuple[int, ...]) -> list[str]:
    problems = []
    if facts.vocabulary is not None and facts.t2d_size != facts.vocabulary:
        problems.append(f"t2d has {facts.t2d_size} entries for a vocabulary of {facts.vocabulary}")
    if len(marked) != len(stored):
        problems.append(f"t2d marks {len(marked)} ids, d2t has {len(stored)} values")
    elif relation(stored, marked) != "offsets":
        wrong = [i for i, (a, b) in enumerate(zip(facts.targets, marked, strict=True)) if a != b]
        at = wrong[0]
        problems.append(
            f"{len(wrong)} of {len(marked)} target ids are not what t2d marks; draft id {at} goes to "
            f"{facts.targets[at]}, t2d marks {marked[at]}"
        )
    return problems


def _t2d_key(facts: D2tFacts) -> str:
    return facts.key.removesuffix("d2t") + "t2d"


def _confirmed(facts: D2tFacts, code: str, why: str, element: int, tensor: str = "") -> Finding:
    """By definition; the right bytes can only come from a map with another origin."""
    has_source = facts.truth is not None and facts.truth.targets is not None and not tensor
    fits = (
        has_source
        and facts.stored is not None
        and facts.truth is not None
        and (len(facts.truth.targets or ()) == len(facts.stored))
    )
    remedy = (ReplaceTensor(facts.key, MapFrom("truth")),) if fits else ()
    where = (Locator("draft", tensor=tensor or facts.key, element=max(element, 0)),)
    return Finding(code, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, where, (), remedy)


def _refuted(code: str, why: str) -> Finding:
    return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why)
