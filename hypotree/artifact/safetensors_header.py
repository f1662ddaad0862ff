"""The header of a safetensors file, read with json and re alone, to start in milliseconds.

Format: https://github.com/huggingface/safetensors#format and the reader of safetensors 0.8.0.
We are stricter than that reader where it is silent about what no writer does: two tensors of one
name (it takes the last), blanks before the opening brace, an entry as a list instead of an object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypotree.artifact.plain import plain
from hypotree.artifact.safetensors_canonical import read_canonical
from hypotree.artifact.safetensors_json import FaultFoundError, frame, parse, take_metadata
from hypotree.artifact.safetensors_layout import lay_out
from hypotree.artifact.safetensors_values import HeaderFault, Problem, TensorLayout
from hypotree.errors import MalformedError

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile

__all__ = [
    "Header",
    "HeaderError",
    "HeaderFault",
    "HeaderScan",
    "Problem",
    "TensorLayout",
    "read_header",
    "scan_header",
]


@dataclass(frozen=True)
class Header:
    """What a file says about itself.

    `tensors` in the order of the header, with offsets in the file; `metadata` its free texts;
    `data_start` the offset of the first tensor byte; `raw` the header's own bytes, padding
    included, without the eight bytes of its length.
    """

    tensors: dict[str, TensorLayout]
    metadata: dict[str, str]
    data_start: int
    file_size: int
    raw: bytes


@dataclass(frozen=True)
class HeaderScan:
    """All that is wrong, and what could be read all the same; sound if `faults` is empty."""

    header: Header | None
    faults: tuple[HeaderFault, ...]


class HeaderError(MalformedError):
    """The first fault of a file whose header does not hold; `problem` says of which kind."""

    problem: Problem = "bad-header"

    @classmethod
    def of(cls, name: str, fault: HeaderFault) -> HeaderError:
        """The error for `fault` in the file called `name`."""
        error = cls(f"reading the header of {plain(name)}", fault.found, fault.next_step)
        error.problem = fault.problem
        return error


def read_header(file: ByteFile, name: str) -> Header:
    """The header of `file` (called `name` in messages); `HeaderError` at its first fault."""
    scan = scan_header(file)
    if scan.faults or scan.header is None:
        raise HeaderError.of(name, scan.faults[0])
    return scan.header


def scan_header(file: ByteFile) -> HeaderScan:
    """Every fault of the header (at most 100), with whatever could be read; never raises for them.

    `UnreadableError` if the file itself cannot be read.
    """
    try:
        raw = frame(file)
        sound = read_canonical(raw, file.size)
        if sound is not None:
            return HeaderScan(Header(*sound, 8 + len(raw), file.size, raw), ())
        table = parse(raw)
        metadata = take_metadata(table)
    except FaultFoundError as stop:
        return HeaderScan(None, (stop.fault,))
    tensors, faults = lay_out(table, 8 + len(raw), file.size)
    return HeaderScan(Header(tensors, metadata, 8 + len(raw), file.size, raw), tuple(faults))
