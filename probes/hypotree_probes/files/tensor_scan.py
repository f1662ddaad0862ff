"""One pass over all tensors in two threads: statistics and digests together, in constant memory.

Tensors are handed out largest first, so that the threads end together. A thread holds one piece
(half a MiB) and its temporaries. The caller's thread only waits and reports, so that a time limit
or Ctrl-C stops the pass within one piece, and no half-read tensor leaves a trace.
"""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hypotree.artifact.tensor_stream import TensorDigester, pieces
from hypotree.errors import ToolError
from hypotree_probes.files.number_formats import COUNTED
from hypotree_probes.files.tensor_statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree.artifact.files import ByteFile
    from hypotree.artifact.safetensors_values import TensorLayout
    from hypotree.digest import Digest

THREADS: Final = 2
_TICK_SECONDS: Final = 0.05
#: Bytes of one job, and what the smallest tensor is held to cost in it.
_BATCH: Final = 8 * 1024 * 1024
_LEAST: Final = 16 * 1024


@dataclass(frozen=True)
class ScannedTensor:
    """One tensor after the pass; `values` is None for integers, booleans and packed formats."""

    name: str
    file: str
    layout: TensorLayout
    values: Statistics | None


_Places = dict[str, tuple[str, "TensorLayout"]]
_Read = tuple[str, "Digest", Statistics]


class _Pass:
    """What the threads share: how far they are, and whether to stop."""

    def __init__(self, files: Mapping[str, ByteFile]) -> None:
        self.done = 0
        self.stop = threading.Event()
        self._files = files
        self._lock = threading.Lock()

    def read(self, batch: _Places) -> list[_Read]:
        """Every tensor of a batch, piece by piece."""
        return [
            (name, *self._read(self._files[file], name, layout))
            for name, (file, layout) in batch.items()
        ]

    def _read(self, file: ByteFile, name: str, layout: TensorLayout) -> tuple[Digest, Statistics]:
        digester, values = TensorDigester(name, layout), Statistics(layout.dtype)
        is_counted = layout.dtype in COUNTED
        for piece in pieces(file, layout):
            if self.stop.is_set():
                raise ToolError("reading the tensors", "the pass was stopped")
            digester.update(piece)
            if is_counted:
                values.add(piece)
            with self._lock:
                self.done += len(piece)
        return digester.digest(), values


def scan_tensors(
    checkpoint: Checkpoint, names: Collection[str], advance: Callable[[int, int], None]
) -> tuple[ScannedTensor, ...]:
    """Read these tensors whole; each is noted with the digest of what was read."""
    places = _places(checkpoint, names)
    total = sum(layout.end - layout.begin for _, layout in places.values())
    shared = _Pass({file: checkpoint.tree.open(file) for file, _ in places.values()})
    pool = ThreadPoolExecutor(THREADS, "tensor-scan")
    try:
        jobs = {pool.submit(shared.read, batch) for batch in _batches(places)}
        read = dict(_watch(jobs, shared, total, advance))
    finally:
        shared.stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
    scanned = []
    for name, (file, layout) in places.items():
        digest, values = read[name]
        checkpoint.note("tensor", name, digest)
        counted = values if layout.dtype in COUNTED else None
        scanned.append(ScannedTensor(name, file, layout, counted))
    return tuple(scanned)


def _places(checkpoint: Checkpoint, names: Collection[str]) -> _Places:
    """Where each tensor lies; the first file that holds a name serves it."""
    wanted, places = set(names), _Places()
    for file, header in checkpoint.headers().items():
        for name, layout in header.tensors.items():
            if name in wanted:
                places.setdefault(name, (file, layout))
    return places


def _batches(places: _Places) -> list[_Places]:
    """Tensors in portions, the largest first; 200,000 small ones are no 200,000 jobs."""
    batches: list[_Places] = []
    room = 0
    for name in sorted(places, key=lambda n: places[n][1].begin - places[n][1].end):
        layout = places[name][1]
        if room <= 0:
            batches.append({})
            room = _BATCH
        batches[-1][name] = places[name]
        room -= max(layout.end - layout.begin, _LEAST)
    return batches


def _watch(
    jobs: set[Future[list[_Read]]], shared: _Pass, total: int, advance: Callable[[int, int], None]
) -> Iterator[tuple[str, tuple[Digest, Statistics]]]:
    """All that was read, as it comes; reports progress, and raises the first error of a thread."""
    pending = jobs
    while pending:
        done, pending = wait(pending, _TICK_SECONDS, FIRST_EXCEPTION)
        for job in done:
            for name, digest, values in job.result():
                yield name, (digest, values)
        advance(shared.done, total)
