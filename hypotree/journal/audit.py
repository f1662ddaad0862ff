"""Walk the chain and name the first line that breaks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypotree.digest import Digest
from hypotree.errors import HypotreeError
from hypotree.journal.codec import GENESIS, decode_record, seal_of
from hypotree.model.event import Record


@dataclass(frozen=True)
class Audit:
    """What a journal's bytes amount to.

    `state` is `whole`, `torn` (the last line was never finished: a crash while
    appending, nothing before it is in doubt) or `broken` (a line was changed,
    removed, added or moved: nothing from `line` on can be trusted).
    """

    records: tuple[Record, ...]
    state: Literal["whole", "torn", "broken"]
    line: int
    """The first bad line, 0 if there is none."""
    why: str
    good_bytes: int
    """How many bytes belong to whole, chained lines."""

    @property
    def head(self) -> Digest:
        """The digest of the last good line."""
        return self.records[-1].sha256 if self.records else GENESIS


def audit(data: bytes, *, seq: int = 0, head: Digest = GENESIS) -> Audit:
    """Check journal bytes that follow on record `seq` with digest `head`."""
    records: list[Record] = []
    good = 0
    for line in data.split(b"\n")[:-1]:
        number = seq + len(records) + 1
        try:
            record = _checked(line, number, head)
        except HypotreeError as error:
            return Audit(tuple(records), "broken", number, error.found, good)
        records.append(record)
        head = record.sha256
        good += len(line) + 1
    if good < len(data):
        why = f"{len(data) - good} bytes of a line that was never finished"
        return Audit(tuple(records), "torn", seq + len(records) + 1, why, good)
    return Audit(tuple(records), "whole", 0, "", good)


def _checked(line: bytes, number: int, head: Digest) -> Record:
    carried, actual = seal_of(line)
    if carried != actual:
        raise _broken(f"its text does not have the digest it carries ({carried.short}…)")
    record = decode_record(line, number)
    if record.prev != head:
        raise _broken("it does not follow on the line before it")
    if record.seq != number:
        raise _broken(f"it says that it is record {record.seq}")
    return record


def _broken(found: str) -> HypotreeError:
    return HypotreeError("checking the journal", found)
