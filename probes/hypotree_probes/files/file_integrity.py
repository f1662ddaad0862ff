"""Are the checkpoint's files whole, and do they agree with each other?

Reads headers, lengths and indexes only: a gigabyte costs what a kilobyte does. A broken file is
a finding here and never an error (classes K of facts/failures.md; cases F27, F28, F29).
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.plain import plain
from hypotree.errors import UnreadableError
from hypotree.model.evidence import Finding, Table
from hypotree.model.verdict import Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext
from hypotree_probes.files.alias_check import aliases
from hypotree_probes.files.digest_check import MISMATCH as DIGEST_MISMATCH
from hypotree_probes.files.digest_check import decide_digests
from hypotree_probes.files.file_verdicts import (
    ALIASED,
    BAD_HEADER,
    INDEX_MISMATCH,
    MISSING_SHARD,
    TRUNCATED,
    decide_aliased,
    decide_bad_header,
    decide_index,
    decide_truncated,
    unknown_aliases,
)
from hypotree_probes.files.index_check import check_indexes
from hypotree_probes.files.shard_scan import Shard, scan_shards

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FETCH: Final = "fetch or copy the file again, and compare its sha256 with the source's"


class FileIntegrity(Probe):
    """Holds every file against the safetensors format and against the index."""

    name = "file-integrity"
    title = "The checkpoint's files against their format and each other"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("truth", "checkpoint", Role.TRUTH, "a copy or a map that is to serve as a truth"),
    )
    decides = (
        Fault(TRUNCATED, "a file ends before what its header promises", advice=_FETCH),
        Fault(BAD_HEADER, "a header breaks the safetensors format", advice=_FETCH),
        Fault(MISSING_SHARD, "the index names a shard that is not there", advice=_FETCH),
        Fault(
            INDEX_MISMATCH,
            "the index and the shards disagree about which tensor is where",
            advice="write the index anew from the shards, or fetch both from one revision",
        ),
        Fault(
            ALIASED,
            "two names lead to one file, so that one is no copy of the other",
            advice="make a real copy (cp --reflink=auto) before you compare or repair",
        ),
        Fault(
            DIGEST_MISMATCH,
            "a file is not what its recorded digest, or its blob's name in the hub cache, says",
            advice="remove the blob and fetch it anew; never write into a hub cache in place",
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Six findings by definition of the format; digests only if the parameter `digests` is set."""
        draft = context.need("draft", Checkpoint)
        with _no_collector():  # 200,000 entries are no garbage, and looking for some costs double
            shards = _scan(context, draft)
            indexes = check_indexes(draft, shards)
        if not shards and not indexes:
            draft.shards()  # nothing to judge: says what is there instead
        missing, mismatch = decide_index(indexes, shards, is_single_file=draft.is_single_file)
        findings = (
            decide_truncated(shards.values()),
            decide_bad_header(shards.values()),
            missing,
            mismatch,
            _aliased(context, draft),
            decide_digests(draft, context.advance, is_wanted=bool(context.params.get("digests"))),
        )
        context.summary = _summary(findings, shards)
        return findings

    def cases(self) -> Sequence[Case]:
        """F27, F28, F29 and their relatives."""
        from hypotree_probes.files.file_integrity_cases import CASES

        return CASES


@contextmanager
def _no_collector() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _scan(context: ProbeContext, draft: Checkpoint) -> dict[str, Shard]:
    total = len(draft.shard_names())
    shards: dict[str, Shard] = {}
    for shard in scan_shards(draft):
        shards[shard.name] = shard
        context.advance(len(shards), total)
    context.measure("shards", total)
    context.measure("bytes", sum(shard.size for shard in shards.values()))
    rows = tuple(
        (
            plain(shard.name),
            shard.size,
            None if shard.tensors is None else len(shard.tensors),
            shard.unreadable or "; ".join(f.found for f in shard.faults[:2]) or "sound",
        )
        for shard in list(shards.values())[:20]
    )
    context.show(Table("Files", ("file", "bytes", "tensors", "state"), rows))
    return shards


def _aliased(context: ProbeContext, draft: Checkpoint) -> Finding:
    try:
        return decide_aliased(aliases(draft, context.get("truth", Artifact)))
    except UnreadableError as error:
        return unknown_aliases(error.found)


def _summary(findings: Sequence[Finding], shards: Mapping[str, Shard]) -> str:
    wrong = [f for f in findings if f.verdict is Verdict.CONFIRMED]
    if wrong:
        return f"The files are not whole: {wrong[0].why}."
    unclear = next((f for f in findings if f.verdict.is_open), None)
    if unclear:
        return f"Not all could be checked: {unclear.why}."
    count = len(shards)
    return f"{count} file{'s' if count != 1 else ''} whole, headers and index in order."
