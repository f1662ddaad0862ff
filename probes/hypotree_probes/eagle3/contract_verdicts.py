"""From sizes and fields to findings.

One checkpoint's files are no truth for each other: that they disagree is certain, which of them is
wrong is said only where a third one decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run
from hypotree_probes.eagle3.contract_sizes import integer, layer_config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypotree_probes.eagle3.contract_sizes import Size, VocabularySizes

VOCABULARY: Final = "config.draft-vocab-mismatch"
TENSORS: Final = "config.tensor-mismatch"
TIED: Final = "config.head-tied-away"
ROPE: Final = "config.rope-ambiguous"
TARGET: Final = "config.target-mismatch"
_FIELD: Final = "draft_vocab_size"


def decide_vocabulary(sizes: VocabularySizes) -> Finding:
    """draft_vocab_size against the head's rows and the map's length."""
    if not sizes.tensors:
        return not_run(VOCABULARY, "neither lm_head nor d2t is there to compare with")
    shown = " and ".join(f"{plain(name)} has {count}" for name, count in sizes.tensors)
    if sizes.claimed is None:
        return _unclaimed(sizes, shown)
    wrong = [said for said in sizes.tensors if said[1] != sizes.claimed]
    if not wrong:
        return _refuted(VOCABULARY, f"{_FIELD} is {sizes.claimed}, {shown}")
    why = f"{_FIELD} says {sizes.claimed}, {shown}"
    counts = {count for _, count in sizes.tensors}
    if len(sizes.tensors) > 1 and len(counts) == 1:
        why += ": two against one, the field is wrong"
    elif len(counts) > 1:
        odd = wrong[0][0] if len(wrong) == 1 else ""
        why += f": two against one, {plain(odd)} is wrong" if odd else ": no two of them agree"
    else:
        why += ": nothing third says which is wrong"
    return _confirmed(VOCABULARY, why, Locator("draft", file="config.json", field=_FIELD))


def _unclaimed(sizes: VocabularySizes, shown: str) -> Finding:
    """Without the field vLLM takes vocab_size; with null SGLang takes the target's head."""
    if sizes.whole is None:
        return not_run(VOCABULARY, f"neither {_FIELD} nor vocab_size is said")
    if all(count == sizes.whole for _, count in sizes.tensors):
        return _refuted(VOCABULARY, f"no {_FIELD}, and {shown}, the whole vocabulary")
    what = "null" if sizes.is_null else "missing"
    why = f"{_FIELD} is {what}, so vocab_size {sizes.whole} counts, but {shown}"
    return _confirmed(VOCABULARY, why, Locator("draft", file="config.json", field=_FIELD))


def decide_tensors(sizes: Sequence[Size]) -> Finding:
    """The layer's sizes."""
    if not sizes:
        return not_run(TENSORS, "no size is told by both config.json and a tensor")
    wrong = [size for size in sizes if not size.agrees]
    if not wrong:
        return _refuted(TENSORS, f"{len(sizes)} sizes agree")
    why = "; ".join(plain(size.words(), 300) for size in wrong[:4])
    first = Locator("draft", file="config.json", tensor=wrong[0].tensor, field=wrong[0].field)
    return _confirmed(TENSORS, why, first)


def decide_tied(config: Mapping[str, object], sizes: VocabularySizes) -> Finding:
    """A tied head is the embedding: SGLang 0.5.23 then leaves the file's lm_head unused
    (models/llama_eagle3.py:303), and a reduced one cannot be what it is tied to.
    """
    if config.get("tie_word_embeddings") is not True:
        return _refuted(TIED, "tie_word_embeddings is not true")
    if sizes.head is None:
        return _refuted(TIED, "the head is tied, and the file has none of its own")
    name, rows = sizes.head
    if sizes.whole is not None and rows != sizes.whole:
        why = f"tie_word_embeddings is true, but {plain(name)} has {rows} rows "
        why += f"and the embedding {sizes.whole}: the head cannot be the embedding"
        where = Locator("draft", file="config.json", field="tie_word_embeddings")
        return _confirmed(TIED, why, where)
    return _refuted(TIED, f"{plain(name)} has as many rows as the embedding that it is tied to")


def decide_rope(config: Mapping[str, object]) -> Finding:
    """rope_theta in both schemas, with two values: readers differ in which they take."""
    place = layer_config(config)
    nested = place.get("rope_parameters")
    flat = place.get("rope_theta")
    inner = nested.get("rope_theta") if isinstance(nested, dict) else None
    if not (_is_number(flat) and _is_number(inner)):
        return _refuted(ROPE, "rope_theta stands in one schema at most")
    if flat == inner:
        return _refuted(ROPE, f"both schemas say rope_theta {flat}")
    why = f"rope_theta is {flat}, rope_parameters.rope_theta is {inner}: it depends on the reader"
    return _confirmed(ROPE, why, Locator("draft", file="config.json", field="rope_theta"))


def decide_target(config: Mapping[str, object], target: Mapping[str, object] | None) -> Finding:
    """What the draft says of its target, against the target's own config."""
    if target is None:
        return not_run(TARGET, "give --target to compare with")
    said = integer(config, "target_hidden_size")
    mine = said or integer(layer_config(config), "hidden_size")
    theirs = _target_size(target, "hidden_size")
    where = Locator("draft", file="config.json", field="target_hidden_size")
    if said and theirs and said != theirs:
        why = f"target_hidden_size is {said}, the target's hidden_size is {theirs}"
        return _confirmed(TARGET, why, where, ("target",))
    vocabulary = integer(layer_config(config), "vocab_size")
    whole = _target_size(target, "vocab_size")
    if vocabulary and whole and vocabulary != whole:
        why = (
            f"vocab_size is {vocabulary}, the target's {whole}: padded otherwise, or another target"
        )
        at = Locator("draft", file="config.json", field="vocab_size")
        return Finding(TARGET, Verdict.CONFIRMED, Authority.HEURISTIC, why, (at,), ("target",))
    if not (mine and theirs) and not (vocabulary and whole):
        return not_run(TARGET, "the two configs share no size")
    why = f"hidden size {theirs} and vocabulary {whole} are the target's"
    return Finding(TARGET, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, (), ("target",))


def _target_size(config: Mapping[str, object], name: str) -> int | None:
    """A field of a target, whose decoder may be nested."""
    places = (config, *(config.get(k) for k in ("text_config", "llm_config", "language_config")))
    return next(
        (v for p in places if isinstance(p, dict) and (v := integer(p, name)) is not None), None
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _confirmed(code: str, why: str, where: Locator, truth: tuple[str, ...] = ()) -> Finding:
    return Finding(code, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, (where,), truth)


def _refuted(code: str, why: str) -> Finding:
    return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why)
