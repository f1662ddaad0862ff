"""Is one file given under two names? Then writing one writes both, and neither proves the other.

Cases: a "good copy" that was a hard link of the bad file (F29; failures K7), which a hash of
both would have praised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.broken import same_files
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.plain import plain
from hypotree.model.evidence import Locator

if TYPE_CHECKING:
    from hypotree.artifact.base import Artifact

_WEIGHTS: Final = (".safetensors", ".pt", ".pth", ".bin", ".npy", ".ckpt")

Alias = tuple[str, tuple[Locator, ...]]


def aliases(draft: Checkpoint, truth: Artifact | None) -> list[Alias]:
    """A sentence and the places for every file that goes by two names."""
    return _inside(draft) + (_across(draft, truth) if truth else [])


def _inside(draft: Checkpoint) -> list[Alias]:
    groups = same_files(draft.tree, draft.shard_names())
    draft.note("aliases", "", draft.digest_of("aliases", ""))
    return [
        (
            f"{' and '.join(map(plain, group[:4]))} are one and the same file",
            tuple(Locator("draft", file=name) for name in group),
        )
        for group in groups
    ]


def _across(draft: Checkpoint, truth: Artifact) -> list[Alias]:
    ours = {_place(draft, name): name for name in draft.shard_names()}
    found: list[Alias] = []
    for name in _weight_files(truth):
        mine = ours.get(_place(truth, name))
        if mine is None:
            continue
        # Only now does the verdict rest on which file it is, and not on what is in it.
        draft.note("identity", mine, draft.digest_of("identity", mine))
        truth.note("identity", name, truth.digest_of("identity", name))
        why = f"{plain(name)} of the truth is the draft's own {plain(mine)} under another name"
        found.append((why, (Locator("draft", file=mine), Locator("truth", file=name))))
    return found


def _weight_files(artifact: Artifact) -> tuple[str, ...]:
    """The files that could prove something: a config.json beside a single file proves nothing."""
    if isinstance(artifact, Checkpoint) and artifact.is_single_file:
        return artifact.shard_names()
    return tuple(name for name in artifact.tree.names() if name.endswith(_WEIGHTS))


def _place(artifact: Artifact, name: str) -> tuple[int, int]:
    at = artifact.tree.identity(name)
    return at.device, at.inode
