"""The records of a torch zip file: a directory read by zipfile, their bytes by us, within bounds.

Records are stored, not compressed, so that a record is no larger than the file. zipfile itself
would refuse files saved with `torch.serialization.set_crc32_options(False)`, whose sums are 0.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from hypotree.artifact.byte_stream import ByteStream
from hypotree.artifact.plain import plain
from hypotree.digest import CHUNK
from hypotree.errors import LimitError, MalformedError, UnreadableError

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile
    from hypotree.artifact.torch_values import StorageRef

#: A quarter of a million entries; zipfile makes an object of half a kilobyte from each.
MAX_DIRECTORY: Final = 16 * 1024 * 1024
#: Compressed records come only from people who zipped again; larger ones they can unzip.
MAX_INFLATED: Final = 64 * 1024 * 1024
_FETCH: Final = "the file is damaged or incomplete: fetch or save it again"
_FAULTS: Final = (
    zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError, IndexError,
    struct.error, OverflowError,
)  # fmt: skip


class TorchZip:
    """A zip file that torch.save wrote; `MalformedError` for one that is cut or contradictory."""

    def __init__(self, file: ByteFile, asked: str) -> None:
        self._file, self._asked = file, asked
        try:
            entries = zipfile.ZipFile(io.BufferedReader(ByteStream(file, asked, MAX_DIRECTORY)))
            records = entries.infolist()
        except _FAULTS as error:
            raise MalformedError(asked, f"no sound zip: {plain(str(error))}", _FETCH) from error
        self._records = {record.filename: record for record in records}
        if len(self._records) != len(records):
            raise MalformedError(asked, "two records of its zip have one name", _FETCH)
        pickles = [name for name in self._records if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            found = f"its zip has {len(pickles)} records called data.pkl"
            raise UnreadableError(asked, found, "give a file that torch.save wrote")
        self._prefix = pickles[0].removesuffix("data.pkl")

    def has(self, name: str) -> bool:
        """Whether there is a record called `name` below the archive's own folder."""
        return self._prefix + name in self._records

    def record(self, name: str, most: int) -> bytes:
        """A whole record; `LimitError` beyond `most` bytes."""
        size = self._info(name).file_size
        if size > most:
            raise LimitError(self._asked, f"its record {plain(name)} has {size} bytes")
        return self._bytes(name, 0, size)

    def read(self, storage: StorageRef, begin: int, length: int) -> bytes:
        """`length` bytes from `begin` of a storage's record."""
        name = f"data/{storage.key}"
        size = self._info(name).file_size
        if size != storage.size:
            found = f"storage {plain(storage.key)} has {size} bytes, the pickle says {storage.size}"
            raise MalformedError(self._asked, found, _FETCH)
        return self._bytes(name, begin, length)

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._records.get(self._prefix + name)
        if info is None:
            raise MalformedError(self._asked, f"its zip has no record {plain(name)}", _FETCH)
        return info

    def _bytes(self, name: str, begin: int, length: int) -> bytes:
        info = self._info(name)
        if info.flag_bits & 1 or info.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            found = f"its record {plain(name)} is encrypted or packed in an unknown way"
            raise UnreadableError(self._asked, found, "give the file that torch.save wrote")
        start = self._start(info)
        if info.compress_type == zipfile.ZIP_DEFLATED:
            return self._inflate(info, start)[begin : begin + length]
        if info.compress_size != info.file_size:
            raise MalformedError(self._asked, f"its record {plain(name)} has two sizes", _FETCH)
        self._compare_sum(info, start)
        return self._file.read(start + begin, length)

    def _start(self, info: zipfile.ZipInfo) -> int:
        """Offset of the record's first byte, behind its local header (zip, section 4.3.7)."""
        local = b""
        if 0 <= info.header_offset <= self._file.size - 30:
            local = self._file.read(info.header_offset, 30)
        start = info.header_offset + 30 + sum(struct.unpack("<HH", local[26:])) if local else -1
        if local[:4] != b"PK\3\4" or start + info.compress_size > self._file.size:
            found = f"its record {plain(info.filename)} lies outside the file"
            raise MalformedError(self._asked, found, _FETCH)
        return start

    def _inflate(self, info: zipfile.ZipInfo, start: int) -> bytes:
        """An unpacked record; never more than it declares, nor than `MAX_INFLATED`."""
        if max(info.file_size, info.compress_size) > MAX_INFLATED:
            found = f"its packed record {plain(info.filename)} unfolds to {info.file_size} bytes"
            raise LimitError(self._asked, found, "unzip it, or save it again with torch.save")
        packed = self._file.read(start, info.compress_size)
        try:
            data = zlib.decompressobj(-15).decompress(packed, info.file_size + 1)
        except zlib.error as error:
            raise MalformedError(self._asked, plain(str(error)), _FETCH) from error
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            found = f"its record {plain(info.filename)} does not unfold to what it declares"
            raise MalformedError(self._asked, found, _FETCH)
        return data

    def _compare_sum(self, info: zipfile.ZipInfo, start: int) -> None:
        """The record against its checksum, once; 0 stands for a sum that was never written."""
        total, end = 0, start + info.file_size
        while info.CRC and start < end:
            piece = self._file.read(start, min(CHUNK, end - start))
            total, start = zlib.crc32(piece, total), start + len(piece)
        if total != info.CRC:
            found = f"its record {plain(info.filename)} does not match its checksum"
            raise MalformedError(self._asked, found, _FETCH)
        info.CRC = 0
