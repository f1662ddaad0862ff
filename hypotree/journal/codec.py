"""A record to its line and back.

A line is the JSON of the record's body with its digest as the last field, so that
the digest can be checked over the line's own bytes. Keys stay in the order in which
a person declared them: siblings of the tree are shown in it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hypotree.digest import Digest
from hypotree.errors import JournalError, MalformedError, ToolError
from hypotree.model.event import Actor, Event, Record
from hypotree.model.wire import decode, ordered_json

#: What the first record calls its predecessor.
GENESIS: Final = Digest.of(b"hypotree journal 1")
_SEAL: Final = b',"sha256":"'
_SEAL_LENGTH: Final = len(_SEAL) + 64 + len(b'"}')


class _Body(msgspec.Struct, frozen=True):
    seq: int
    time: str
    actor: Actor
    event: Event
    prev: Digest


def encode_record(seq: int, time: str, actor: Actor, event: Event, prev: Digest) -> bytes:
    """One line, newline included; `ToolError` for an event that would not read back as it is.

    A number such as NaN has no JSON: written, it would be a line that nobody can read.
    """
    record = _Body(seq, time, actor, event, prev)
    try:
        body = ordered_json(record)
        is_same = decode(body, _Body, "the event") == record
    except (MalformedError, TypeError, ValueError, NotImplementedError) as error:
        raise ToolError("journaling an event", f"it has no JSON: {error}") from error
    if not is_same:
        raise ToolError("journaling an event", "it would read back as another one")
    return body[:-1] + _SEAL + Digest.of(body).hex.encode() + b'"}\n'


def seal_of(line: bytes) -> tuple[Digest, Digest]:
    """The digest that a line carries and the one that its bytes have; no newline in `line`."""
    carried, body = line[-66:-2], line[:-_SEAL_LENGTH] + b"}"
    if line[-_SEAL_LENGTH:-66] != _SEAL:
        raise JournalError("reading a journal line", "it does not end in its digest")
    try:
        return Digest(carried.decode("ascii")), Digest.of(body)
    except ValueError as error:
        raise JournalError("reading a journal line", "its digest is none") from error


def decode_record(line: bytes, number: int) -> Record:
    """The record of one line, not yet checked against its neighbours."""
    return decode(line, Record, f"line {number} of the journal")
