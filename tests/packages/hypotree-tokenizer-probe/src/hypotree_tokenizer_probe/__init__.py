"""Was the draft saved with the target's tokenizer?

A draft that was trained with another tokenizer proposes ids that mean other words. Its folder often
holds a copy of the tokenizer that training used, and so does the target's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.documents import as_mapping, read_json
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext

CODE = "tokenizer.differs"
FILE = "tokenizer.json"


class TokenizerIdentity(Probe):
    """Compares the vocabulary in the draft's tokenizer.json with the target's."""

    name = "tokenizer-identity"
    title = "The draft's tokenizer against the target's"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft's folder", is_required=True),
        Input("target", "checkpoint", Role.TRUTH, "the target's folder", is_required=True),
    )
    decides = (
        Fault(
            CODE,
            "the draft was saved with another tokenizer than the target's",
            advice="train or fetch the draft that belongs to this target",
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding; the files are read through the artifacts, so that they are noted."""
        mine = _vocabulary(context.need("draft", Checkpoint))
        theirs = _vocabulary(context.need("target", Checkpoint))
        if mine is None or theirs is None:
            whose = "draft's" if mine is None else "target's"
            why = f"there is no {FILE} in the {whose} folder"
            return [Finding(CODE, Verdict.NOT_RUN, Authority.NONE, why)]
        moved = [word for word, number in mine.items() if theirs.get(word) != number]
        context.measure("words", len(mine))
        if not moved:
            why = f"all {len(mine)} words have the target's ids"
            return [_finding(Verdict.REFUTED, why)]
        word = min(moved)
        why = f"{len(moved)} of {len(mine)} words have other ids: {word!r} is {mine[word]} here"
        return [_finding(Verdict.CONFIRMED, f"{why} and {theirs.get(word)} in the target")]

    def cases(self) -> Sequence[Case]:
        """A tokenizer with two words exchanged, and the target's own."""
        return (Case(CODE, _exchanged, _same),)


def _vocabulary(checkpoint: Checkpoint) -> Mapping[str, object] | None:
    file = checkpoint.file(FILE)
    if file is None:
        return None
    model = as_mapping(as_mapping(read_json(file, FILE), FILE).get("model"), f"model of {FILE}")
    return as_mapping(model.get("vocab"), f"vocab of {FILE}")


def _finding(verdict: Verdict, why: str) -> Finding:
    where = (Locator("draft", file=FILE),)
    return Finding(CODE, verdict, Authority.SOURCE_OF_TRUTH, why, where, truth=("target",))


def _exchanged(folder: Path) -> Mapping[str, str]:
    return _plant(folder, {"a": 1, "b": 0})


def _same(folder: Path) -> Mapping[str, str]:
    return _plant(folder, {"a": 0, "b": 1})


def _plant(folder: Path, vocabulary: Mapping[str, int]) -> Mapping[str, str]:
    for name, words in (("draft", vocabulary), ("target", {"a": 0, "b": 1})):
        (folder / name).mkdir()
        (folder / name / FILE).write_text(json.dumps({"model": {"vocab": words}}))
    return {name: str(folder / name) for name in ("draft", "target")}
