"""Tokens of a workload: how often each target id occurs, whoever wrote them down.

Forms: speculators' `token_freq.pt` (counts by id, a tensor or a dict), samples (`input_ids` or
`token_ids` in .pt, .ckpt or .safetensors), .npy of ids, JSON lines with `input_ids`, `token_ids` or
`prompt_token_ids`, a bare JSON list a line, and plain text of ids.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from hypotree.artifact.log import Log
from hypotree.artifact.npy_file import read_npy
from hypotree.artifact.safetensors_header import read_header
from hypotree.artifact.tensor import TensorValue
from hypotree.artifact.torch_file import read_torch_file
from hypotree.errors import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYS: Final = ("input_ids", "token_ids", "prompt_token_ids", "output_token_ids")
_COUNTS: Final = ("token_freq", "counts", "frequencies")
_TORCH: Final = (".pt", ".pth", ".ckpt", ".bin")


class TokenCounts(Log):
    """One file of token ids, or of counts by id."""

    kind: ClassVar[str] = "tokens"

    def counts(self) -> Counter[int]:
        """How often each id occurs; `UnreadableError` if the file holds no ids."""
        found = self._from_lines() if self._is_text() else self._from_tensors()
        if not found or min(found) < 0:
            raise UnreadableError(
                f"reading {self.locator} as tokens",
                "an id is negative" if found else "it holds no token ids",
                "give input_ids, or the counts of each id (token_freq.pt)",
            )
        return found

    def _is_text(self) -> bool:
        return not self.name.endswith((*_TORCH, ".npy", ".safetensors"))

    def _from_tensors(self) -> Counter[int]:
        name, file = self.name, self.tree.open(self.name)
        self.note("file", name, self._file_digest(name))
        if name.endswith(".npy"):
            return _ids(read_npy(file, name))
        if name.endswith(".safetensors"):
            at = read_header(file, name).tensors
            key = next((k for k in _KEYS if k in at), None)
            if key is None:
                return Counter()
            begin, end = at[key].begin, at[key].end
            return _ids(TensorValue(at[key].dtype, at[key].shape, file.read(begin, end - begin)))
        return _from_torch(read_torch_file(file, name), Path(name).stem)

    def _from_lines(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for _, line in self.lines():
            found.update(_from_line(line))
        return found


def _from_torch(loaded: object, stem: str) -> Counter[int]:
    if isinstance(loaded, TensorValue):
        is_counts = any(word in stem for word in ("freq", "count"))
        return _by_id(loaded) if is_counts else _ids(loaded)
    if not isinstance(loaded, dict):
        return Counter()
    for key in _COUNTS:
        if isinstance(value := loaded.get(key), TensorValue):
            return _by_id(value)
    for key in _KEYS:
        if isinstance(value := loaded.get(key), TensorValue):
            return _ids(value)
    return _from_pairs(loaded)


def _from_pairs(loaded: Mapping[object, object]) -> Counter[int]:
    """A dict of id to count."""
    pairs = {k: v for k, v in loaded.items() if isinstance(k, int) and isinstance(v, int) and v > 0}
    return Counter(pairs) if len(pairs) == len(loaded) else Counter()


def _ids(value: TensorValue) -> Counter[int]:
    return Counter(value.integers()) if value.is_integer else Counter()


def _by_id(value: TensorValue) -> Counter[int]:
    """A tensor whose element i says how often id i occurs."""
    if not value.is_integer:
        return Counter()
    return Counter({i: count for i, count in enumerate(value.integers()) if count > 0})


def _from_line(line: str) -> list[int]:
    text = line.strip()
    if text[:1] in {"{", "["}:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return []
        if isinstance(value, dict):
            value = next((value[key] for key in _KEYS if key in value), [])
        return [v for v in value if type(v) is int] if isinstance(value, list) else []
    words = text.replace(",", " ").split()
    return [int(w) for w in words] if all(w.isdecimal() and len(w) < 10 for w in words) else []
