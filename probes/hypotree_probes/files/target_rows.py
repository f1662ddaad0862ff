"""Do the rows of the draft's head and embedding fit the target's where the map says they do?

A head that was started from the target's rows (speculators copies the verifier's) stays near them,
and so a permuted or stale map shows: the rows are near others (failures A2, A8). A head trained
from scratch (EAGLE) is near none, which says nothing. It all rests on likeness, so this is a
suspicion at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hypotree.artifact.plain import plain
from hypotree.artifact.tensor_stream import pieces, streamed_digest
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run
from hypotree_probes.eagle3.draft import find_tensor
from hypotree_probes.files.number_formats import WIDE, wide_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree.artifact.safetensors_values import TensorLayout

MISPLACED: Final = "tensor.rows-misplaced"
_SAMPLED: Final = 32
_ALIKE: Final = 0.6
_MARGIN: Final = 0.3
#: The best of n random cosines in d dimensions comes near sqrt(2 ln n / d).
_ABOVE_CHANCE: Final = 1.25
_HEAD, _EMBED = "lm_head.weight", "embed_tokens.weight"


@dataclass(frozen=True)
class _Pair:
    """One matrix of the draft beside the one of the target that it may stem from."""

    mine: str
    theirs: str
    rows: tuple[int, ...]
    mapped: tuple[int, ...]
    """Where the map sends each of `rows`."""


def decide_rows(
    draft: Checkpoint, target: Checkpoint | None, advance: Callable[[int, int], None]
) -> Finding:
    """Compare a few dozen rows; only if they do not fit is the target's matrix searched."""
    if target is None:
        return not_run(MISPLACED, "give --target to compare rows with")
    if not target.shard_names():
        return not_run(MISPLACED, "the target was given without tensors")
    answers = [_compare(draft, target, pair, advance) for pair in _pairs(draft, target)]
    for verdict in (Verdict.CONFIRMED, Verdict.REFUTED):
        if found := next((a for a in answers if a.verdict is verdict), None):
            return found
    return answers[0] if answers else not_run(MISPLACED, "no matrix of both has rows of one width")


def _pairs(draft: Checkpoint, target: Checkpoint) -> list[_Pair]:
    offsets = _offsets(draft)
    found = []
    for mine, names in ((_HEAD, (_HEAD, _EMBED)), (_EMBED, (_EMBED,))):
        key = find_tensor(draft, mine)
        other = next((k for n in names if (k := find_tensor(target, n))), None)
        ours = draft.layout(key) if key else None
        theirs = target.layout(other) if other else None
        if key is None or other is None or not _comparable(ours, theirs):
            continue
        assert ours is not None
        count = ours.shape[0]
        rows = tuple(sorted({i * count // _SAMPLED for i in range(_SAMPLED)}))
        shift = offsets if mine == _HEAD and offsets and len(offsets) == count else None
        found.append(_Pair(key, other, rows, tuple(i + (shift[i] if shift else 0) for i in rows)))
    return found


def _offsets(draft: Checkpoint) -> list[int] | None:
    key = find_tensor(draft, "d2t")
    value = draft.tensor(key) if key else None
    return value.integers() if value and value.is_integer else None


def _comparable(ours: TensorLayout | None, theirs: TensorLayout | None) -> bool:
    if ours is None or theirs is None or len(ours.shape) != 2 or len(theirs.shape) != 2:
        return False
    return ours.shape[1] == theirs.shape[1] and {ours.dtype, theirs.dtype} <= set(WIDE)


def _compare(
    draft: Checkpoint, target: Checkpoint, pair: _Pair, advance: Callable[[int, int], None]
) -> Finding:
    ours, theirs = draft.layout(pair.mine), target.layout(pair.theirs)
    assert ours is not None
    assert theirs is not None
    inside = [i for i, at in enumerate(pair.mapped) if 0 <= at < theirs.shape[0]]
    rows = tuple(pair.rows[i] for i in inside)
    mapped = tuple(pair.mapped[i] for i in inside)
    mine = _unit(draft.rows(pair.mine, rows) or (), ours)
    there = _unit(target.rows(pair.theirs, mapped) or (), theirs)
    fit = float(np.median(np.sum(mine * there, axis=1))) if rows else 0.0
    what = f"{len(rows)} rows of {plain(pair.mine)} have a median cosine of {fit:.2f}"
    if fit >= _ALIKE:
        why = f"{what} to the target's rows that the map names"
        return Finding(MISPLACED, Verdict.REFUTED, Authority.HEURISTIC, why)
    best, at = _nearest(target, pair.theirs, theirs, mine, advance)
    alike = max(_ALIKE, _ABOVE_CHANCE * sqrt(2 * log(theirs.shape[0]) / theirs.shape[1]))
    elsewhere = [i for i in range(len(rows)) if at[i] != mapped[i] and best[i] >= alike]
    if 2 * len(elsewhere) <= len(rows) or float(np.median(best)) < fit + _MARGIN:
        return not_run(MISPLACED, f"{what} to the target's: a head of its own, nothing to compare")
    first = elsewhere[0]
    why = f"{what} to the rows that the map names, and of {float(np.median(best)):.2f} to others: "
    why += f"row {rows[first]} is like the target's {at[first]}, the map says {mapped[first]}"
    where = (Locator("draft", tensor=pair.mine, element=rows[first]),)
    return Finding(MISPLACED, Verdict.CONFIRMED, Authority.HEURISTIC, why, where, ("target",))


def _nearest(
    target: Checkpoint,
    name: str,
    layout: TensorLayout,
    mine: NDArray[Any],
    advance: Callable[[int, int], None],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The greatest cosine of each of our rows to any row of the target's matrix, and which row."""
    where = target.locate(name)
    assert where is not None
    file = target.tree.open(where[0])
    width = (layout.end - layout.begin) // max(layout.shape[0], 1)
    best, at, seen = np.full(len(mine), -2.0), np.zeros(len(mine), np.int64), 0
    for piece in pieces(file, layout, max(512 * 1024 // width, 1) * width):
        cosines = mine @ _unit((piece,), layout).T
        top = cosines.argmax(axis=1)
        value = cosines[np.arange(len(mine)), top]
        better = value > best
        best[better], at[better] = value[better], top[better] + seen
        seen += len(piece) // width
        advance(seen * width, layout.end - layout.begin)
    target.note("tensor", name, streamed_digest(file, name, layout))
    return best, at


def _unit(rows: tuple[bytes, ...], layout: TensorLayout) -> NDArray[Any]:
    """Rows as float32 of length one; what is not finite counts as 0."""
    form = WIDE[layout.dtype]
    flat = wide_values(np.frombuffer(b"".join(rows), form.bits), form)
    found = np.nan_to_num(flat.astype(np.float32), posinf=0, neginf=0).reshape(-1, layout.shape[1])
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return found / np.where(lengths == 0, 1, lengths)
