"""The verdict on each params.* code; one function a code, a coverage in, a finding out."""

from __future__ import annotations

from typing import Final

from hypotree.model.edit import RenameTensors
from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Verdict
from hypotree_probes.engines import coverage_words as words
from hypotree_probes.engines.coverage import HEAD
from hypotree_probes.engines.coverage_facts import Coverage
from hypotree_probes.engines.layout import takes_target_head

_TRUTH: Final = ("engine",)


def renamed(found: Coverage) -> Finding:
    """params.renamed: dropped tensors are the unwritten parameters under another prefix."""
    code, names = "params.renamed", found.ledger.renames
    if found.ledger.is_ambiguous:
        why = "dropped tensors match unwritten parameters in more than one way"
        return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, _doubted(found, why))
    if not names:
        return _refuted(found, code, "no dropped tensor is an unwritten parameter by another name")
    old, new = words.prefixes(names)
    filled = found.ledger.parameters_renamed()
    named = f"named {old}.*" if old else "without that prefix"
    example = min(names)
    why = (
        f"{found.engine} {words.knows(found, new)}; {words.count(len(names), 'tensor')} {named} "
        f"{words.be(len(names))} {words.fates(found, tuple(names))}, so {filled} of its parameters "
        f"{words.outcome(found)}; for example {example} should be {names[example]}"
    )
    remedy = (RenameTensors(dict(names)),)
    return _confirmed(found, code, why, tuple(names), remedy)


def dropped(found: Coverage) -> Finding:
    """params.dropped: tensors that the draft was trained with find no parameter."""
    code, lost = "params.dropped", found.ledger.dropped
    if not lost:
        return _refuted(found, code, "every tensor that training left finds its parameter")
    why = (
        f"{found.engine} has no parameter for {words.count(len(lost), 'tensor')} "
        f"({words.some(lost)}), which "
        f"{words.be(len(lost))} {words.fates(found, lost)}{words.losses(found, lost)}"
    )
    return _confirmed(found, code, why, lost)


def unwritten(found: Coverage) -> Finding:
    """params.unwritten: parameters that no tensor fills."""
    code, gaps = "params.unwritten", found.ledger.unwritten
    if not gaps:
        return _refuted(found, code, "every parameter that the engine uses is filled or shared")
    names = tuple(gap.parameter for gap in gaps)
    why = (
        f"{len(gaps)} of {found.ledger.parameters} parameters of {found.rule.model_class} in "
        f"{found.engine} are filled by no tensor and {words.outcome(found)}: {words.some(names)}; "
        f"it looks for {gaps[0].missing[0]}"
    )
    return _confirmed(found, code, why)


def shape_mismatch(found: Coverage) -> Finding:
    """params.shape-mismatch: a tensor that would be loaded contradicts config.json's sizes."""
    code, wrong = "params.shape-mismatch", found.ledger.misshapen
    if not wrong:
        if "hidden" not in found.sizes.sizes:
            why = "config.json gives no hidden_size to compare with"
            return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, why)
        return _refuted(
            found, code, "every tensor that is loaded has the shape that config.json asks for"
        )
    first = wrong[0]
    wanted = ["any" if size is None else size for size in first.wanted]
    why = (
        f"{first.tensor} is {list(first.shape)} where config.json makes it "
        f"[{', '.join(map(str, wanted))}], {len(wrong)} in all; {found.engine} stops at load"
    )
    return _confirmed(found, code, why, tuple(item.tensor for item in wrong))


def lm_head_missing(found: Coverage) -> Finding:
    """params.lm-head-missing: no head in the file, and no right one from elsewhere."""
    code, rule, sizes = "params.lm-head-missing", found.rule, found.sizes
    if not found.ledger.lacks_head:
        return _refuted(found, code, _where_head_comes_from(found))
    if "draft_vocabulary" not in sizes.switches and rule.absent_head == "random":
        why = f"without a number in draft_vocab_size {found.engine} stops at start, head or no head"
        return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, why)
    rows = sizes.size("draft_vocabulary")
    fate = {
        "random": "keeps a head of random values, without a message",
        "target": f"takes the first {rows} rows of the target's head, which are other tokens",
    }[rule.absent_head]
    why = f"there is no lm_head, and draft_vocab_size is {rows}: {found.engine} {fate}"
    return _confirmed(found, code, why)


def _where_head_comes_from(found: Coverage) -> str:
    if takes_target_head(found.rule, found.sizes):
        return "draft_vocab_size is null: the target's head is taken, whatever the file holds"
    if HEAD in found.ledger.used:
        return "lm_head.weight is there and is loaded"
    return "no lm_head is needed: it is tied to the embeddings or shared with the target"


def _confirmed(
    found: Coverage,
    code: str,
    why: str,
    tensors: tuple[str, ...] = (),
    remedy: tuple[RenameTensors, ...] = (),
) -> Finding:
    return Finding(
        code, Verdict.CONFIRMED, found.authority, _doubted(found, why),
        found.locators(tensors), _TRUTH, remedy,
    )  # fmt: skip


def _refuted(found: Coverage, code: str, why: str) -> Finding:
    text = _doubted(found, f"{why} ({found.engine}, {found.rule.model_class})")
    return Finding(code, Verdict.REFUTED, found.authority, text, truth=_TRUTH)


def _doubted(found: Coverage, why: str) -> str:
    return f"{why}; but {found.doubt}" if found.doubt else why
