"""What d2t-format looks at: the stored map, its t2d, the sizes it must fit, and the truth beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.map_form import MapForm, decide_form
from hypotree.artifact.tensor import TensorValue
from hypotree.artifact.vocabulary_map import VocabularyMap
from hypotree.probe import ProbeContext
from hypotree_probes.eagle3.draft import draft_facts, find_tensor

Relation = Literal["offsets", "absolute", "double-subtracted", "unset", "other", "other-length"]


@dataclass(frozen=True)
class D2tFacts:
    """Everything the findings are made from; ids are Python integers, None where not there."""

    key: str
    dtype: str
    stored: tuple[int, ...] | None
    """The map's values [draft vocabulary]; None if there is no map or it is not of integers."""
    marked: tuple[int, ...] | None
    """Target ids that t2d marks, ascending."""
    t2d_size: int | None
    vocabulary: int | None
    draft_vocabulary: int | None
    head_rows: int | None
    truth: MapForm | None
    """The map given as truth; None if none was given."""
    truth_name: str

    @property
    def present(self) -> bool:
        """Whether the checkpoint has a map at all."""
        return self.dtype != ""

    @property
    def targets(self) -> tuple[int, ...]:
        """draft id + stored value: what every engine computes."""
        return tuple(i + v for i, v in enumerate(self.stored or ()))

    @property
    def is_reduced(self) -> bool | None:
        """Whether the draft vocabulary is smaller than the target's; None if not known."""
        size = self.draft_vocabulary or self.head_rows
        if size is None or self.vocabulary is None:
            return None
        return size < self.vocabulary

    def reference(self) -> tuple[tuple[int, ...] | None, str]:
        """The target ids to compare with and where they come from: the truth, else t2d."""
        if self.truth is not None:
            return self.truth.targets, "truth"
        return self.marked, "t2d"


def gather(context: ProbeContext) -> D2tFacts:
    """Read what decides; a few hundred KB whatever the checkpoint's size."""
    draft = context.need("draft", Checkpoint)
    facts = draft_facts(draft.config())
    key = find_tensor(draft, "d2t") or "d2t"
    d2t, t2d = draft.tensor(key), draft.tensor(key.removesuffix("d2t") + "t2d")
    head_key = find_tensor(draft, "lm_head.weight")
    head = draft.layout(head_key) if head_key else None
    vocabulary = facts.vocabulary or _target_vocabulary(context) or (t2d.shape[0] if t2d else None)
    return D2tFacts(
        key=key,
        dtype=d2t.dtype if d2t else "",
        stored=tuple(d2t.integers()) if d2t and d2t.is_integer else None,
        marked=_marked(t2d),
        t2d_size=t2d.shape[0] if t2d and t2d.shape else None,
        vocabulary=vocabulary,
        draft_vocabulary=facts.draft_vocabulary,
        head_rows=head.shape[0] if head and head.shape else None,
        truth=_truth(context, vocabulary),
        truth_name=context.need("truth", VocabularyMap).locator if context.has("truth") else "",
    )


def relation(stored: tuple[int, ...], targets: tuple[int, ...]) -> Relation:
    """How stored values relate to the right target ids, tried in the order of the simplest story."""
    if len(stored) != len(targets):
        return "other-length"
    if all(v == t - i for i, (v, t) in enumerate(zip(stored, targets, strict=True))):
        return "offsets"
    if not any(stored):
        return "unset"
    if stored == targets:
        return "absolute"
    if all(v == t - 2 * i for i, (v, t) in enumerate(zip(stored, targets, strict=True))):
        return "double-subtracted"
    return "other"


def _target_vocabulary(context: ProbeContext) -> int | None:
    target = context.get("target", Checkpoint)
    return draft_facts(target.config()).vocabulary if target else None


def _marked(t2d: TensorValue | None) -> tuple[int, ...] | None:
    if t2d is None:
        return None
    return tuple(i for i, value in enumerate(t2d.integers()) if value)


def _truth(context: ProbeContext, vocabulary: int | None) -> MapForm | None:
    given = context.get("truth", VocabularyMap)
    if given is None:
        return None
    found = given.stored()
    stored = found.d2t.integers() if found.d2t else None
    return decide_form(stored, _marked(found.t2d), vocabulary, given.form)
