"""The journal file: lock, catch up, append, fsync."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from hypotree.atomic import sync_folder, write_file
from hypotree.digest import Digest
from hypotree.errors import JournalError, ToolError
from hypotree.journal.audit import Audit, audit
from hypotree.journal.codec import GENESIS, encode_record
from hypotree.locking import LockTimeoutError, file_lock
from hypotree.model.event import Actor, Event, Record

LOCK_SECONDS = 30.0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Journal:
    """An append-only file that several processes may write.

    `records` is what this process has read so far; `refresh` reads what others
    added. A broken journal is still read up to the break, and refuses appends.
    """

    def __init__(self, path: Path, clock: Callable[[], str] = _now) -> None:
        self.path = path
        self._clock = clock
        self._records: list[Record] = []
        self._bytes = 0
        self._inode = 0
        self._audit: Audit = audit(b"")
        self._broken: Audit | None = None
        self.refresh()

    @property
    def records(self) -> Sequence[Record]:
        """All good records in order."""
        return self._records

    @property
    def head(self) -> Digest:
        """The digest of the last good record."""
        return self._records[-1].sha256 if self._records else GENESIS

    @property
    def is_broken(self) -> bool:
        """Whether a line was changed, removed or moved; a torn tail is not a break."""
        return self._found.state == "broken"

    @property
    def problem(self) -> str:
        """What is wrong, for people; "" if nothing is."""
        found = self._found
        return f"line {found.line}: {found.why}" if found.line else ""

    @property
    def _found(self) -> Audit:
        return self._broken or self._audit

    def refresh(self) -> Sequence[Record]:
        """Read and check what was appended since; returns the new records."""
        data = self._tail()
        self._audit = audit(data, seq=len(self._records), head=self.head)
        self._records.extend(self._audit.records)
        self._bytes += self._audit.good_bytes
        return self._audit.records

    def verify(self) -> Audit:
        """Check the whole file anew, from its first byte, and against what was read of it before."""
        found = audit(self.path.read_bytes() if self.path.exists() else b"")
        if found.state != "broken":
            found = self._compared(found)
        self._broken = found if found.state == "broken" else None
        return found

    def _compared(self, found: Audit) -> Audit:
        """A chain that is whole in itself, and yet not the one whose records we hold."""
        known = self._records
        same = (
            i for i, (a, b) in enumerate(zip(known, found.records, strict=False), 1)
            if a.sha256 != b.sha256
        )  # fmt: skip
        line = next(same, 0 if len(found.records) >= len(known) else len(found.records) + 1)
        if not line:
            return found
        why = f"{len(known) - line + 1} events that were here before are gone or replaced"
        return Audit(found.records[: line - 1], "broken", line, why, 0)

    def append(self, event: Event, actor: Actor) -> Record:
        """Add one event durably; `JournalError` if the file does not verify up to its end."""
        with self.locked():
            return self.append_locked(event, actor)

    def append_locked(self, event: Event, actor: Actor) -> Record:
        """`append` for a caller that holds `locked()` already."""
        self.refresh()
        if self.is_broken:
            raise JournalError(
                f"appending to {self.path}",
                self.problem,
                "hypotree journal verify shows where; nothing is written to a broken journal",
            )
        if self._audit.state == "torn":
            self._set_torn_tail_aside()
        line = encode_record(len(self._records) + 1, self._clock(), actor, event, self.head)
        self._write(line)
        (record,) = self.refresh()
        return record

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the journal against other processes."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(file_lock(self.path.with_suffix(".lock"), LOCK_SECONDS))
            except LockTimeoutError as error:
                raise ToolError(f"locking {self.path}", "another process holds it") from error
            except OSError as error:
                raise ToolError(f"locking {self.path}", error.strerror or str(error)) from error
            yield

    def _tail(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                moved = self._inode and status.st_ino != self._inode
                self._inode = status.st_ino
                if moved or status.st_size < self._bytes:
                    self.verify()
                file.seek(self._bytes)
                return b"" if self._broken else file.read()
        except FileNotFoundError:
            if self._records:
                self.verify()
            return b""
        except OSError as error:
            raise ToolError(f"reading {self.path}", error.strerror or str(error)) from error

    def _write(self, line: bytes) -> None:
        try:
            is_new = not self.path.exists()
            with self.path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                sync_folder(self.path.parent)
        except OSError as error:
            raise ToolError(f"appending to {self.path}", error.strerror or str(error)) from error

    def _set_torn_tail_aside(self) -> None:
        """Keep the unfinished line in a file of its own, then continue after the last whole one."""
        with self.path.open("r+b") as file:
            file.seek(self._bytes)
            torn = file.read()
            name = f"{self.path.name}.torn-{self._bytes}-{Digest.of(torn).short}"
            write_file(self.path.with_name(name), torn)
            file.truncate(self._bytes)
            os.fsync(file.fileno())
