"""Weights by content: a checkpoint, however it is sharded, or a manifest dumped of one earlier.

A manifest is `{"schema": "hypotree.manifest/1", "tensors": {NAME: {"dtype", "shape", "sha256"}}}`,
where sha256 is hypotree's digest of a tensor: of its name, dtype, shape and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.documents import INDEX, read_json
from hypotree.artifact.tensor_stream import TensorDigester, pieces
from hypotree.digest import Digest
from hypotree.model.wire import convert

SCHEMA: Final = "hypotree.manifest/1"
_THREADS: Final = 2

Progress = Callable[[int, int], None]


class Entry(msgspec.Struct, frozen=True):
    """One tensor by what it is and what it holds."""

    dtype: str
    shape: tuple[int, ...]
    sha256: Digest


class Manifest(msgspec.Struct, frozen=True):
    """Every tensor of a checkpoint."""

    schema: str
    tensors: dict[str, Entry]


class Weights(Checkpoint):
    """A checkpoint, or a manifest of one (a .json file)."""

    kind: ClassVar[str] = "weights"

    @property
    def is_manifest(self) -> bool:
        """Whether only digests are there, no bytes."""
        return self.locator.endswith(".json") and Path(self.locator).is_file()

    def members(self) -> tuple[str, ...]:
        """The manifest, or the checkpoint's files."""
        return (Path(self.locator).name,) if self.is_manifest else super().members()

    def entries(self, progress: Progress | None = None) -> Mapping[str, Entry]:
        """Every tensor with its digest; each is noted."""
        if self.is_manifest:
            return self._listed()
        names = self.names()
        digests = self.digests(names, progress)
        layouts = {name: where[1] for name in names if (where := self.locate(name))}
        for name in names:
            self.note("tensor", name, digests[name])
        return {n: Entry(at.dtype, at.shape, digests[n]) for n, at in layouts.items()}

    def _listed(self) -> Mapping[str, Entry]:
        name = Path(self.locator).name
        file = self.file(name)
        assert file is not None
        value = read_json(file, name, INDEX)
        found: Manifest = convert(value, Manifest, f"{name} as a manifest")
        return found.tensors

    def digests(
        self, names: Collection[str], progress: Progress | None = None, alias: str | None = None
    ) -> dict[str, Digest]:
        """Digests of these tensors in one pass; with `alias`, as if each had that name."""
        places = {name: at for name in names if (at := self.locate(name))}
        total = sum(layout.end - layout.begin for _, layout in places.values())
        files = {file: self.tree.open(file) for file, _ in places.values()}

        def one(name: str) -> Digest:
            file, layout = places[name]
            digester = TensorDigester(name if alias is None else alias, layout)
            for piece in pieces(files[file], layout):
                digester.update(piece)
            return digester.digest()

        found: dict[str, Digest] = {}
        done = 0
        with ThreadPoolExecutor(_THREADS, "weights") as pool:
            try:
                for name, digest in zip(places, pool.map(one, places), strict=True):
                    found[name] = digest
                    done += places[name][1].end - places[name][1].begin
                    if progress:
                        progress(done, total)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return found
