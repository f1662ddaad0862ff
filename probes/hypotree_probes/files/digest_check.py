"""Whole files against the digests that somebody recorded of them; asked for, since it reads all bytes.

Sources: huggingface_hub names a large file's blob in its cache by its sha256
(`models--*/blobs/<64 hex>`, linked from `snapshots/<revision>/`), and an in-place write through the
link leaves that name a lie (failures K6, K8); `sha256sum` writes `<digest>  <name>` lines.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.digest import CHUNK, Digest
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hypotree.artifact.checkpoint import Checkpoint

MISMATCH: Final = "file.digest-mismatch"
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_LINE: Final = re.compile(r"([0-9a-f]{64}) [ *]?(\S.*)")
_LISTS: Final = ("SHA256SUMS", "sha256sums.txt", "sha256sum.txt")
_MOST_LIST_BYTES: Final = 4 * 1024 * 1024


def decide_digests(
    draft: Checkpoint, advance: Callable[[int, int], None], *, is_wanted: bool
) -> Finding:
    """Hash every file of which a digest is recorded."""
    if not is_wanted:
        return not_run(MISMATCH, "hashing whole files is asked for with --param digests=1")
    recorded = _recorded(draft)
    if not recorded:
        return not_run(MISMATCH, "no blob name of a hub cache and no list of digests is there")
    total = sum(draft.tree.open(name).size for name in recorded)
    wrong: list[tuple[str, str]] = []
    done = 0
    for name, (expected, source) in recorded.items():
        found = _hash(draft, name, done, total, advance)
        done += draft.tree.open(name).size
        draft.note("file", name, found)
        if found.hex != expected:
            wrong.append((name, f"{plain(name)} is {found.short}…, {source} says {expected[:12]}…"))
    if not wrong:
        why = f"{len(recorded)} files have the sha256 that is recorded of them"
        return Finding(MISMATCH, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why)
    why = "; ".join(said for _, said in wrong[:3])
    places = tuple(Locator("draft", file=name) for name, _ in wrong[:20])
    return Finding(MISMATCH, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, places)


def _recorded(draft: Checkpoint) -> dict[str, tuple[str, str]]:
    """The expected digest of each shard, and who says so."""
    listed = _lists(draft)
    found: dict[str, tuple[str, str]] = {}
    for name in draft.shard_names():
        at = Path(draft.tree.identity(name).path)
        if at.parent.name == "blobs" and _HEX.fullmatch(at.name):
            draft.note("identity", name, draft.digest_of("identity", name))
            found[name] = (at.name, "its blob's name")
        elif name in listed:
            found[name] = listed[name]
    return found


def _lists(draft: Checkpoint) -> Mapping[str, tuple[str, str]]:
    """Names with digests from the sha256sum files of the folder."""
    found: dict[str, tuple[str, str]] = {}
    if draft.is_single_file:
        return found
    for source in (n for n in draft.tree.names() if n in _LISTS or n.endswith(".sha256")):
        file = draft.file(source)
        if file is None or file.size > _MOST_LIST_BYTES:
            continue
        for line in file.read(0, file.size).decode("utf-8", "replace").splitlines():
            if match := _LINE.fullmatch(line):
                found[match[2]] = (match[1], plain(source))
            elif _HEX.fullmatch(line.strip()) and source.endswith(".sha256"):
                found[source.removesuffix(".sha256")] = (line.strip(), plain(source))
    return found


def _hash(
    draft: Checkpoint, name: str, done: int, total: int, advance: Callable[[int, int], None]
) -> Digest:
    file = draft.tree.open(name)
    state = hashlib.sha256()
    for at in range(0, file.size, CHUNK):
        state.update(file.read(at, min(CHUNK, file.size - at)))
        advance(done + at, total)
    return Digest(state.hexdigest())
