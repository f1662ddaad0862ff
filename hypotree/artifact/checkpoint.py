"""Checkpoints: a folder or a file, sharded or single, read by header and on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from hypotree.artifact.base import Artifact
from hypotree.artifact.broken import header_digest, same_files
from hypotree.artifact.documents import as_mapping, read_json
from hypotree.artifact.files import DiskTree, FileTree
from hypotree.artifact.safetensors_header import Header, TensorLayout, read_header
from hypotree.artifact.tensor import TensorValue
from hypotree.artifact.tensor_stream import rows_digest, rows_of, streamed_digest
from hypotree.digest import ABSENT, Digest
from hypotree.errors import MalformedError, UnreadableError

INDEX = "model.safetensors.index.json"
CONFIG = "config.json"
_LFS = b"version https://git-lfs"


class Checkpoint(Artifact):
    """The tensors and the config of one checkpoint."""

    kind: ClassVar[str] = "checkpoint"

    def __init__(self, locator: str, tree: FileTree | None = None, form: str = "") -> None:
        path = Path(locator)
        self._only = path.name if path.is_file() else None
        if tree is None and self._only:
            tree = DiskTree(path.parent)
        super().__init__(locator, tree, form)
        self._headers: dict[str, Header] | None = None

    # -- files -----------------------------------------------------------------

    def shards(self) -> tuple[str, ...]:
        """The safetensors files of this checkpoint; `UnreadableError` if there is none."""
        found = self.shard_names()
        if not found:
            raise UnreadableError(
                f"reading {self.locator} as a checkpoint",
                _what_is_there(self.tree.names()),
                "give a folder with *.safetensors, or one such file",
            )
        return found

    def shard_names(self) -> tuple[str, ...]:
        """The safetensors files that are there, however few and whatever is in them."""
        if self._only:
            return (self._only,)
        names = self.tree.names()
        return tuple(n for n in names if n.endswith(".safetensors") and "/" not in n)

    @property
    def is_single_file(self) -> bool:
        """Whether one file was given rather than a folder, so that no index speaks for it."""
        return self._only is not None

    def members(self) -> tuple[str, ...]:
        """Shards, index and JSON files: none of these is truth for another."""
        names = self.tree.names()
        beside = tuple(n for n in names if n.endswith((".json", ".bin")) and "/" not in n)
        return tuple(sorted({*self.shard_names(), *beside}))

    def headers(self) -> dict[str, Header]:
        """The header of every shard, by file name."""
        if self._headers is None:
            self._headers = {name: self._read_header(name) for name in self.shards()}
        return self._headers

    def _read_header(self, name: str) -> Header:
        file = self.tree.open(name)
        if file.size >= len(_LFS) and file.read(0, len(_LFS)) == _LFS:
            raise UnreadableError(
                f"reading {name}", "it is a Git-LFS pointer, not the file", "run git lfs pull"
            )
        return read_header(file, name)

    # -- questions -------------------------------------------------------------

    def config(self) -> Mapping[str, object]:
        """config.json as a mapping; empty (and noted as absent) if there is none."""
        file = self.file(CONFIG)
        return {} if file is None else as_mapping(read_json(file, CONFIG), CONFIG)

    def names(self) -> tuple[str, ...]:
        """All state_dict keys, sorted."""
        self.note("tensor-names", "", self._names_digest())
        return tuple(sorted(name for _, name in self._entries()))

    def find(self, name: str) -> str | None:
        """The key of `name`, bare or behind any prefix, the bare one first; other keys do not count."""
        self.note("tensor-key", name, self._keys_digest(name))
        keys = self._keys_of(name)
        return name if name in keys else next(iter(keys), None)

    def layouts(self) -> dict[str, TensorLayout]:
        """All state_dict keys with dtype and shape."""
        self.note("tensor-layouts", "", self._layouts_digest())
        return {name: self._headers_of(file).tensors[name] for file, name in self._entries()}

    def layout(self, name: str) -> TensorLayout | None:
        """Dtype and shape of one tensor, None if it is not there."""
        self.note("tensor-layout", name, self._layout_digest(name))
        where = self.locate(name)
        return where[1] if where else None

    def tensor(self, name: str) -> TensorValue | None:
        """One tensor with its bytes, None if it is not there."""
        value = self._value(name)
        self.note("tensor", name, tensor_digest(name, value))
        return value

    def rows(self, name: str, rows: tuple[int, ...]) -> tuple[bytes, ...] | None:
        """Some rows of one tensor (those that it has), None if it is not there."""
        found = self._rows(name, rows)
        self.note("tensor-rows", f"{','.join(map(str, rows))} {name}", found[1])
        return found[0]

    def locate(self, name: str) -> tuple[str, TensorLayout] | None:
        """File and layout of one tensor; not noted, for locators and plans."""
        for file, header in self.headers().items():
            if name in header.tensors:
                return file, header.tensors[name]
        return None

    # -- digests ---------------------------------------------------------------

    def digest_of(self, kind: str, name: str) -> Digest:
        """What `name` digests to now."""
        if kind == "tensor":
            where = self.locate(name)
            return streamed_digest(self.tree.open(where[0]), name, where[1]) if where else ABSENT
        if kind == "tensor-rows":
            rows, _, tensor = name.partition(" ")
            return self._rows(tensor, tuple(int(r) for r in rows.split(",") if r))[1]
        if kind == "tensor-layout":
            return self._layout_digest(name)
        if kind == "tensor-key":
            return self._keys_digest(name)
        if kind == "tensor-names":
            return self._names_digest()
        if kind == "tensor-layouts":
            return self._layouts_digest()
        if kind == "header":
            return header_digest(self.tree.open(name)) if self.tree.has(name) else ABSENT
        if kind == "shard-names":
            return Digest.of_parts(*(shard.encode() for shard in self.shard_names()))
        if kind == "aliases":
            groups = same_files(self.tree, self.shard_names())
            return Digest.of_parts(*("\0".join(group).encode() for group in groups))
        return super().digest_of(kind, name)

    def _value(self, name: str) -> TensorValue | None:
        where = self.locate(name)
        if where is None:
            return None
        file, layout = where
        data = self.tree.open(file).read(layout.begin, layout.end - layout.begin)
        return TensorValue(layout.dtype, layout.shape, data)

    def _rows(self, name: str, rows: tuple[int, ...]) -> tuple[tuple[bytes, ...] | None, Digest]:
        where = self.locate(name)
        if where is None:
            return None, ABSENT
        found = rows_of(self.tree.open(where[0]), where[1], rows)
        return found, rows_digest(name, where[1], found)

    def _entries(self) -> Iterator[tuple[str, str]]:
        seen: set[str] = set()
        for file, header in self.headers().items():
            for name in header.tensors:
                if name not in seen:
                    seen.add(name)
                    yield file, name

    def _headers_of(self, file: str) -> Header:
        header = self.headers().get(file)
        if header is None:
            raise MalformedError(f"reading {file} of {self.locator}", "no such shard")
        return header

    def _names_digest(self) -> Digest:
        return Digest.of_parts(*sorted(name.encode() for _, name in self._entries()))

    def _keys_of(self, name: str) -> list[str]:
        keys = (key for _, key in self._entries())
        return sorted(key for key in keys if key == name or key.endswith(f".{name}"))

    def _keys_digest(self, name: str) -> Digest:
        return Digest.of_parts(*(key.encode() for key in self._keys_of(name)))

    def _layout_digest(self, name: str) -> Digest:
        where = self.locate(name)
        return ABSENT if where is None else Digest.of_parts(_layout_bytes(name, where[1]))

    def _layouts_digest(self) -> Digest:
        lines = (_layout_bytes(n, self._headers_of(f).tensors[n]) for f, n in self._entries())
        return Digest.of_parts(*sorted(lines))


def tensor_digest(name: str, value: TensorValue | None) -> Digest:
    """Of a tensor's name, dtype, shape and bytes; `ABSENT` for None."""
    if value is None:
        return ABSENT
    shape = ",".join(map(str, value.shape))
    return Digest.of_parts(name.encode(), value.dtype.encode(), shape.encode(), value.data)


def _layout_bytes(name: str, layout: TensorLayout) -> bytes:
    return f"{layout.dtype} {list(layout.shape)} {name}".encode()


def _what_is_there(names: tuple[str, ...]) -> str:
    if any(name.endswith((".bin", ".pt", ".pth")) for name in names):
        return "it holds pickled weights only, no *.safetensors"
    shown = ", ".join(names[:5]) or "nothing"
    return f"it holds no *.safetensors (there is {shown})"
