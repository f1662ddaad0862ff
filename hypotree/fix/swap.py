"""Replace artifacts: the only module that may, and only with a Permit."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypotree.artifact.files import DiskFile
from hypotree.atomic import sync_folder
from hypotree.digest import CHUNK, Digest
from hypotree.errors import RefusedError, ToolError
from hypotree.fix.plan import changed_reads
from hypotree.fix.segments import Kept, SegmentedFile
from hypotree.fix.stage import StagedTree
from hypotree.fix.undo import UndoStore
from hypotree.gate.decision import Permit
from hypotree.model.evidence import Read
from hypotree.model.fix import FileSwap

LOCK_SECONDS = 10.0

#: Called under the lock right before a replace: names of what changed since the permit, or nothing.
Recheck = Callable[[], tuple[str, ...]]


@dataclass(frozen=True)
class Replacement:
    """One file to be replaced, with its undo pack on disk already."""

    path: Path
    staged: SegmentedFile
    before: tuple[Read, ...]
    after: tuple[Read, ...]
    pack: Digest

    def record(self) -> FileSwap:
        """The journal's value for it."""
        return FileSwap(
            str(self.path), self.before, self.after, self.staged.base.size, self.staged.size,
            self.pack, "reflink-or-copy", self.staged.fresh_bytes,
        )  # fmt: skip


def prepare(permit: Permit, staged: StagedTree, undo: UndoStore) -> tuple[Replacement, ...]:
    """Put the undo packs of a permitted plan on disk; nothing else is written yet."""
    Permit.check(permit)
    return tuple(
        Replacement(
            Path(file.path), staged.staged[file.name], file.based_on, file.after,
            undo.keep(staged.staged[file.name]),
        )
        for file in permit.plan.files
    )  # fmt: skip


def prepare_undo(swaps: tuple[FileSwap, ...], undo: UndoStore) -> tuple[Replacement, ...]:
    """The replacements that put `swaps` back; a conflict if a file is not as they left it."""
    replacements = []
    for swap in swaps:
        path = Path(swap.path)
        if changed := changed_reads(path, swap.after):
            raise RefusedError(
                f"undoing the change of {path}",
                f"it was changed since, by others: {', '.join(changed)} (expected "
                f"{swap.after[0].sha256.short}…)",
                "compare both, or restore by hand from the undo pack",
            )
        view = undo.restore(swap.pack, DiskFile(path))
        replacements.append(Replacement(path, view, swap.after, swap.before, undo.keep(view)))
    return tuple(replacements)


def swap(replacements: tuple[Replacement, ...], permit: Permit | None, recheck: Recheck) -> None:
    """Replace every file, or, if one cannot be, put back those that were.

    `permit` is None only for an undo, which needs none: it puts back bytes that
    a permitted swap replaced. The digests are compared again, under the lock,
    right before each replace.
    """
    if permit is not None:
        _check(replacements, permit)
    with contextlib.ExitStack() as stack:
        for replacement in sorted(replacements, key=lambda r: r.path):
            stack.enter_context(locked(replacement.path))
        done: list[Replacement] = []
        try:
            for replacement in replacements:
                # After the first replace the evidence is stale by our own doing.
                _replace(replacement, (lambda: ()) if done else recheck)
                done.append(replacement)
        except BaseException:
            for replacement in reversed(done):
                _put_back(replacement)
            raise


def _check(replacements: tuple[Replacement, ...], permit: Permit) -> None:
    """That the permit is one, and that these are its files with the bytes that it names."""
    Permit.check(permit)
    permitted = [(Path(f.path), f.based_on, f.after) for f in permit.plan.files]
    if permitted != [(r.path, r.before, r.after) for r in replacements]:
        raise ToolError("replacing files", "they are not the ones that the permit names")


def _replace(replacement: Replacement, recheck: Recheck) -> None:
    path = replacement.path
    scratch = _write_beside(path, replacement.staged)
    try:
        _verify(scratch, replacement.staged)
        changed = (*_moved(replacement), *changed_reads(path, replacement.before), *recheck())
        if changed:
            raise RefusedError(
                f"replacing {path}",
                f"STALE_ARTIFACT: changed while the fix was made: {', '.join(changed)}",
                "run the probe again and plan anew",
            )
        os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(OSError):
            scratch.unlink()
        raise
    sync_folder(path.parent)
    if wrong := changed_reads(path, replacement.after):
        _put_back(replacement)
        raise ToolError(
            f"replacing {path}", f"read back differently: {', '.join(wrong)}; the old file is back"
        )


def _moved(replacement: Replacement) -> tuple[str, ...]:
    """Whether the name leads to another file than the one that the view was made over."""
    now, then = replacement.path.stat(), os.fstat(_on_disk(replacement.staged).fileno())
    same = (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino)
    return () if same else ("the file itself (it was replaced)",)


def _on_disk(content: SegmentedFile) -> DiskFile:
    if not isinstance(content.base, DiskFile):
        raise ToolError("replacing a file", "the staged view is not over a file on disk")
    return content.base


def _put_back(replacement: Replacement) -> None:
    """The old file again, from the view's own base, which still holds the replaced inode open."""
    old = replacement.staged.base
    scratch = _write_beside(replacement.path, SegmentedFile(old, (Kept(0, old.size),)))
    os.replace(scratch, replacement.path)
    sync_folder(replacement.path.parent)


def _write_beside(path: Path, content: SegmentedFile) -> Path:
    """The new file as a durable sibling, with the target's mode and owner."""
    status = path.stat()
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.hypotree-", dir=path.parent)
    try:
        _fill(fd, content, _on_disk(content).fileno())
        os.fchmod(fd, status.st_mode & 0o7777)
        if os.fstat(fd).st_gid != status.st_gid:
            os.fchown(fd, -1, status.st_gid)
        os.fsync(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    finally:
        os.close(fd)
    return Path(name)


def _fill(fd: int, content: SegmentedFile, old: int) -> None:
    """Kept ranges are copied in the kernel (shared, where the file system can), fresh ones written."""
    for segment in content.segments:
        if isinstance(segment, Kept):
            _copy(old, fd, segment)
        else:
            view = memoryview(segment.data)
            while view:
                view = view[os.write(fd, view) :]


def _copy(source: int, fd: int, segment: Kept) -> None:
    offset, left = segment.offset, segment.length
    while left:
        count = os.copy_file_range(source, fd, left, offset)
        if not count:
            raise ToolError("copying unchanged tensors", "the old file ended early")
        offset, left = offset + count, left - count


def _verify(path: Path, expected: SegmentedFile) -> None:
    """Read the sibling again, all of it, and compare it with the view."""
    actual = DiskFile(path)
    if actual.size != expected.size:
        raise ToolError(f"verifying {path}", f"it has {actual.size} bytes, not {expected.size}")
    for offset in range(0, expected.size, CHUNK):
        length = min(CHUNK, expected.size - offset)
        if actual.read(offset, length) != expected.read(offset, length):
            raise ToolError(f"verifying {path}", f"it differs from the plan near byte {offset}")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold `path` against other hypotree processes of this user."""
    from filelock import FileLock, Timeout

    folder = Path(tempfile.gettempdir(), f"hypotree-locks-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = FileLock(
        folder / f"{Digest.of(str(path.resolve()).encode()).hex}.lock", timeout=LOCK_SECONDS
    )
    try:
        lock.acquire()
    except Timeout as error:
        raise ToolError(f"locking {path}", "another hypotree process is writing it") from error
    try:
        yield
    finally:
        lock.release()
