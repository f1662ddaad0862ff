"""From what was found in the files to findings: all by definition, so none names a truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run
from hypotree_probes.files.overlap_check import missing_numbers, twice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hypotree_probes.files.alias_check import Alias
    from hypotree_probes.files.index_check import IndexReport
    from hypotree_probes.files.shard_scan import Shard

TRUNCATED: Final = "file.truncated"
BAD_HEADER: Final = "file.bad-header"
MISSING_SHARD: Final = "file.index-missing-shard"
INDEX_MISMATCH: Final = "file.index-mismatch"
ALIASED: Final = "file.aliased"

#: Sentences and places that a finding shows; the count of all stands before them.
_SHOWN: Final = 3
_PLACES: Final = 20

_Said = tuple[str, Locator]


def decide_truncated(shards: Iterable[Shard]) -> Finding:
    """Whether any file is shorter than its header promises."""
    shards = tuple(shards)
    cut = [
        _said(s, f.found, f.tensor) for s in shards for f in s.faults if f.problem == "truncated"
    ]
    unknown = [s for s in shards if not s.is_cut and not s.length_is_known]
    return _decide(TRUNCATED, cut, unknown, f"{len(shards)} files are as long as promised")


def decide_bad_header(shards: Iterable[Shard]) -> Finding:
    """Whether any header contradicts the format (a file that is merely cut short does not)."""
    shards = tuple(shards)
    bad = [
        _said(s, f.found, f.tensor) for s in shards for f in s.faults if f.problem != "truncated"
    ]
    unknown = [s for s in shards if not s.header_is_known]
    return _decide(BAD_HEADER, bad, unknown, f"{len(shards)} headers keep to the format")


def decide_index(
    reports: Sequence[IndexReport], shards: Mapping[str, Shard], *, is_single_file: bool
) -> tuple[Finding, Finding]:
    """`file.index-missing-shard` and `file.index-mismatch`."""
    if is_single_file:
        why = "a single file was given, the index beside it was not looked at"
        return not_run(MISSING_SHARD, why), not_run(INDEX_MISMATCH, why)
    if not reports:
        return _without_index(shards)
    missing = [(why, Locator("draft", file=shard)) for r in reports for shard, why in r.missing]
    wrong = [(why, Locator("draft", file=shard)) for r in reports for shard, why in r.wrong]
    unread = [plain(r.name) for r in reports if not r.is_read]
    doubts = [why for report in reports for why in report.open]
    if missing:
        first = _confirmed(MISSING_SHARD, missing)
    elif unread:
        first = _open(MISSING_SHARD, f"{unread[0]} could not be read")
    else:
        first = _refuted(MISSING_SHARD, "every shard that the index names is there")
    if wrong:
        return first, _confirmed(INDEX_MISMATCH, wrong)
    if doubts:
        return first, _open(INDEX_MISMATCH, doubts[0])
    return first, _refuted(INDEX_MISMATCH, "index and headers agree on every tensor compared")


def _without_index(shards: Mapping[str, Shard]) -> tuple[Finding, Finding]:
    """What the files' own names and contents say where no index does."""
    why = "there is no index, and none is needed to read these files"
    gone = [(said, Locator("draft", file=name)) for name, said in missing_numbers(shards)]
    both = [(said, Locator("draft", file=name)) for name, said in twice(shards)]
    return (
        _confirmed(MISSING_SHARD, gone, Authority.HEURISTIC)
        if gone
        else _refuted(MISSING_SHARD, why),
        _confirmed(INDEX_MISMATCH, both) if both else _refuted(INDEX_MISMATCH, why),
    )


def decide_aliased(found: Sequence[Alias]) -> Finding:
    """Whether one file goes by two names among what was given."""
    if not found:
        return _refuted(ALIASED, "no two names of what was given lead to one file")
    why = _sentences([why for why, _ in found])
    places = tuple(place for _, at in found for place in at)[:_PLACES]
    return Finding(ALIASED, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, places)


def unknown_aliases(why: str) -> Finding:
    """The finding if a file's place could not be told."""
    return Finding(ALIASED, Verdict.INCONCLUSIVE, Authority.NONE, why)


def _decide(code: str, said: Sequence[_Said], unknown: Sequence[Shard], well: str) -> Finding:
    if said:
        return _confirmed(code, said)
    if blocked := [shard for shard in unknown if shard.unreadable]:
        why = f"{plain(blocked[0].name)} could not be opened: {blocked[0].unreadable}"
        return Finding(code, Verdict.INCONCLUSIVE, Authority.NONE, why)
    if unknown:
        return _open(code, f"{plain(unknown[0].name)} is too broken to be compared in this respect")
    return _refuted(code, well)


def _confirmed(
    code: str, said: Sequence[_Said], authority: Authority = Authority.SOURCE_OF_TRUTH
) -> Finding:
    why = _sentences([sentence for sentence, _ in said])
    places = tuple(place for _, place in said)[:_PLACES]
    return Finding(code, Verdict.CONFIRMED, authority, why, places)


def _open(code: str, why: str) -> Finding:
    return Finding(code, Verdict.NOT_EXERCISED, Authority.NONE, f"not compared: {why}")


def _refuted(code: str, why: str) -> Finding:
    return Finding(code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why)


def _said(shard: Shard, found: str, tensor: str | None) -> _Said:
    place = Locator("draft", file=shard.name, tensor=tensor or "")
    return f"{plain(shard.name)}: {found}", place


def _sentences(said: Sequence[str]) -> str:
    shown = "; ".join(said[:_SHOWN])
    return shown if len(said) <= _SHOWN else f"{shown}; and {len(said) - _SHOWN} more"
