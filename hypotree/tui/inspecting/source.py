"""A checkpoint as its headers tell it: tensors, files, metadata, config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.files import ByteFile
from hypotree.errors import HypotreeError, UnknownNameError


class TensorRow(NamedTuple):
    """One tensor: `begin` and `end` are offsets in `file`."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: str
    begin: int
    end: int

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.end - self.begin


@dataclass(frozen=True)
class Source:
    """One checkpoint, header only; `checkpoint` reads more when it is asked."""

    path: str
    tensors: tuple[TensorRow, ...]
    by_name: Mapping[str, TensorRow] = field(repr=False)
    files: Mapping[str, int]
    metadata: Mapping[str, Mapping[str, str]]
    config: Mapping[str, object]
    config_problem: str
    checkpoint: Checkpoint = field(repr=False, compare=False)

    def tensor(self, name: str) -> TensorRow:
        """The tensor called `name`; `UnknownNameError` if there is none."""
        found = self.by_name.get(name)
        if found is None:
            raise UnknownNameError(f"finding {name!r} in {self.path}", "no such tensor")
        return found

    def file_of(self, row: TensorRow) -> ByteFile:
        """The file that holds a tensor."""
        return self.checkpoint.tree.open(row.file)


def open_source(path: str) -> Source:
    """Read the headers of every shard, and the config; no tensor byte is read."""
    checkpoint = Checkpoint(path)
    headers = checkpoint.headers()
    rows = [
        TensorRow(name, at.dtype, at.shape, file, at.begin, at.end)
        for file, header in headers.items()
        for name, at in header.tensors.items()
    ]
    config, problem = _config(checkpoint)
    return Source(
        path=path,
        tensors=tuple(sorted(rows)),
        by_name={row.name: row for row in reversed(rows)},
        files={file: header.file_size for file, header in headers.items()},
        metadata={file: header.metadata for file, header in headers.items()},
        config=config,
        config_problem=problem,
        checkpoint=checkpoint,
    )


def _config(checkpoint: Checkpoint) -> tuple[Mapping[str, object], str]:
    if checkpoint.is_single_file:
        return {}, ""
    try:
        return checkpoint.config(), ""
    except HypotreeError as error:
        return {}, str(error)
