"""Files of torch.save, read without running anything in them and, mostly, without torch.

Zip files (torch 1.6 and later) and the legacy form before it; layouts from torch 2.13,
`torch/serialization.py`, `_save` and `_legacy_save`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.plain import plain
from hypotree.artifact.torch_globals import ForeignPickle
from hypotree.artifact.torch_legacy import is_legacy, open_legacy
from hypotree.artifact.torch_unpickle import Unpickler
from hypotree.artifact.torch_values import Budget, Storages, TorchValue, materialise
from hypotree.artifact.torch_zip import TorchZip
from hypotree.errors import UnreadableError

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile

__all__ = ["MAX_PICKLE", "TorchValue", "peek_torch_file", "read_torch_file"]

#: The pickle beside the tensors' bytes: names, shapes and a few numbers.
MAX_PICKLE: Final = 64 * 1024 * 1024


def read_torch_file(file: ByteFile, name: str) -> TorchValue:
    """The tensor, or the dict or list with tensors in it, that `file` holds.

    Plain files are read by a closed unpickler; what it does not know goes to torch's own loader
    with `weights_only=True`. Tensors come out contiguous and little-endian, tuples as lists.
    `MalformedError` for a damaged file, `LimitError` for one beyond all reason, `UnreadableError`
    for code, for whole modules, and for what is no torch file.
    """
    asked = f"reading the torch file {plain(name)}"
    try:
        tree, storages = _open(file, asked)
    except ForeignPickle as reason:
        from hypotree.artifact.torch_fallback import load_with_torch  # torch takes a second

        return load_with_torch(file, asked, str(reason))
    return materialise(tree, storages, Budget(file.size, asked))


def peek_torch_file(file: ByteFile, name: str) -> TorchValue:
    """The same by the closed unpickler only: a look at an unknown file never starts torch."""
    asked = f"looking into the torch file {plain(name)}"
    try:
        tree, storages = _open(file, asked)
    except ForeignPickle as reason:
        raise UnreadableError(asked, str(reason)) from reason
    return materialise(tree, storages, Budget(file.size, asked))


def _open(file: ByteFile, asked: str) -> tuple[object, Storages]:
    """The file's tree of references, and where its bytes are."""
    start = file.read(0, min(32, file.size))
    if start[:4] == b"PK\3\4":
        archive = TorchZip(file, asked)
        if archive.has("byteorder") and archive.record("byteorder", 16) != b"little":
            found = "it was saved on a big-endian machine"
            raise UnreadableError(asked, found, "load and save it there as safetensors")
        return Unpickler(archive.record("data.pkl", MAX_PICKLE), asked).load(), archive
    if is_legacy(start):
        return open_legacy(file, file.read(0, min(MAX_PICKLE, file.size)), asked)
    raise UnreadableError(asked, _what_it_is(start), "give a file that torch.save wrote")


def _what_it_is(start: bytes) -> str:
    """A guess, for the message only, at what lies there instead."""
    if not start:
        return "it is empty"
    if start[8:9] == b"{":
        return "it looks like a safetensors file"
    if start.startswith(b"version https://git-lfs"):
        return "it is a git-lfs pointer, not the file itself"
    if start[:1] == b"\x80":
        return "it is a bare pickle, not a torch file"
    return f"it starts with {plain(start.decode('latin-1'))}"
