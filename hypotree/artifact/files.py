"""Files as random-access bytes, and folders of them: the same face for disk and staged view."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from hypotree.errors import EscapeError, UnreadableError

#: A checkpoint folder with more entries than this is not a checkpoint folder.
MAX_FILES = 20_000
#: Hub snapshots are two folders deep at most; a training output is not walked.
MAX_DEPTH = 3


@dataclass(frozen=True)
class FileIdentity:
    """Which file this is on this machine: two names with one identity are one file."""

    path: str
    device: int
    inode: int
    size: int


class ByteFile(Protocol):
    """Random access to one file's bytes; raises `UnreadableError` when it cannot be read."""

    @property
    def size(self) -> int:
        """Length in bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset`; `UnreadableError` if the file ends before that."""


class FileTree(Protocol):
    """A folder (or a single file) as a set of POSIX names below one root."""

    @property
    def root(self) -> Path:
        """The folder, or the folder of the single file."""

    def names(self) -> tuple[str, ...]:
        """All file names below the root, sorted."""

    def has(self, name: str) -> bool:
        """Whether the tree holds `name`."""

    def open(self, name: str) -> ByteFile:
        """The file called `name`; `UnreadableError` if there is none."""

    def identity(self, name: str) -> FileIdentity:
        """Where the bytes of `name` live on this machine."""


class DiskFile:
    """A file on disk, read with pread: no mapping, so a file cut short is an error, no signal."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise _unreadable(path, error) from error
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            os.close(self._fd)
            self._fd = -1
            raise UnreadableError(f"reading {path}", "not a regular file", "give a file")
        self._size = status.st_size

    @property
    def size(self) -> int:
        """Length in bytes when the file was opened."""
        return self._size

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset`."""
        try:
            data = os.pread(self._fd, length, offset)
            while len(data) < length:
                more = os.pread(self._fd, length - len(data), offset + len(data))
                if not more:
                    raise UnreadableError(
                        f"reading {length} bytes at {offset} of {self._path}",
                        f"the file ends after {offset + len(data)} bytes",
                    )
                data += more
        except OSError as error:
            raise _unreadable(self._path, error) from error
        return data

    def read_into(self, offset: int, buffer: bytearray) -> None:
        """Fill `buffer` from `offset` on; `UnreadableError` if the file ends before that."""
        view, at = memoryview(buffer), offset
        try:
            while view:
                count = os.preadv(self._fd, [view], at)
                if not count:
                    raise UnreadableError(
                        f"reading {len(buffer)} bytes at {offset} of {self._path}",
                        f"the file ends after {at} bytes",
                    )
                view, at = view[count:], at + count
        except OSError as error:
            raise _unreadable(self._path, error) from error

    def fileno(self) -> int:
        """The read-only descriptor, for copies inside the kernel."""
        return self._fd

    def __reduce__(self) -> tuple[type[DiskFile], tuple[Path]]:
        return DiskFile, (self._path,)

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            os.close(self._fd)


class DiskTree:
    """A folder or a single file on disk; no name in it leads out of its root.

    Symbolic links are followed only inside the root, or, in a hub cache
    (`snapshots/<revision>/` beside `blobs/`), into that repository's blobs.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise UnreadableError(f"opening {path}", "there is no such file or folder")
        self._single = None if path.is_dir() else path.name
        self._root = path if path.is_dir() else path.parent

    @property
    def root(self) -> Path:
        """The folder, or the folder of the single file."""
        return self._root

    @property
    def single(self) -> str | None:
        """The file's name if the tree was opened on one file."""
        return self._single

    def names(self) -> tuple[str, ...]:
        """All file names below the root, sorted; at most `MAX_FILES`, `MAX_DEPTH` folders deep."""
        if self._single is not None:
            return (self._single,)
        found: list[str] = []
        self._walk(self._root, "", 0, found)
        return tuple(sorted(found))

    def _walk(self, folder: Path, prefix: str, depth: int, found: list[str]) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) >= MAX_FILES:
                    raise UnreadableError(
                        f"listing {self._root}", f"more than {MAX_FILES} files", "give the folder"
                    )
                if entry.is_dir(follow_symlinks=False):
                    if depth + 1 < MAX_DEPTH and not entry.name.startswith("."):
                        self._walk(Path(entry.path), f"{prefix}{entry.name}/", depth + 1, found)
                elif entry.is_file():
                    found.append(prefix + entry.name)

    def has(self, name: str) -> bool:
        """Whether the tree holds a regular file called `name`."""
        return self._resolve(name).is_file()

    def open(self, name: str) -> ByteFile:
        """The file called `name`."""
        return DiskFile(self._resolve(name))

    def identity(self, name: str) -> FileIdentity:
        """Device, inode and size of what `name` leads to."""
        path = self._resolve(name)
        try:
            status = path.stat()
        except OSError as error:
            raise _unreadable(path, error) from error
        return FileIdentity(str(path), status.st_dev, status.st_ino, status.st_size)

    def _resolve(self, name: str) -> Path:
        pure = PurePosixPath(name)
        if not name or pure.is_absolute() or ".." in pure.parts or "\0" in name:
            raise EscapeError(
                f"opening {name!r} below {self._root}",
                "the name leads out of that folder",
                "a checkpoint may only name files of its own folder",
            )
        path = (self._root / name).resolve()
        root = self._root.resolve()
        if path.is_relative_to(root) or _is_hub_blob(root, path) or name == self._single:
            return path
        raise EscapeError(
            f"opening {name!r} below {self._root}",
            f"it is a link to {path}, outside that folder",
            "copy the file in, or give the folder that holds it",
        )


def _is_hub_blob(root: Path, path: Path) -> bool:
    """Whether `root` is a hub-cache snapshot and `path` one of the same repository's blobs."""
    parts = root.parts
    if "snapshots" not in parts:
        return False
    repository = Path(*parts[: len(parts) - 1 - parts[::-1].index("snapshots")])
    return path.is_relative_to(repository / "blobs")


def _unreadable(path: Path, error: OSError) -> UnreadableError:
    return UnreadableError(f"reading {path}", error.strerror or str(error))
