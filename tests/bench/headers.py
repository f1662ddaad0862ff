"""file-integrity against safe_open listing shapes, interleaved, on 64 sparse shards.

python tests/bench/headers.py [TENSORS_PER_SHARD]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from safetensors import safe_open

from hypotree.model.verdict import Role, Verdict
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe

SHARDS, REPEATS = 64, 7


def write(folder: Path, per_shard: int) -> int:
    """Truthful headers in the library's form and order, a sorted index as transformers writes it."""
    weights: dict[str, str] = {}
    apparent = 0
    for shard in range(SHARDS):
        name = f"model-{shard + 1:05d}-of-{SHARDS:05d}.safetensors"
        parts, at = ['{"__metadata__":{"format":"pt"}'], 0
        for tensor, shape in sorted(_tensors(shard * per_shard, per_shard)):
            size = shape[0] * shape[1] * 2
            parts.append(
                f'"{tensor}":{{"dtype":"BF16","shape":[{shape[0]},{shape[1]}],'
                f'"data_offsets":[{at},{at + size}]}}'
            )
            at += size
            weights[tensor] = name
        header = (",".join(parts) + "}").encode()
        header += b" " * (-len(header) % 8)
        with (folder / name).open("wb") as file:
            file.write(len(header).to_bytes(8, "little") + header)
            file.truncate(8 + len(header) + at)
        apparent += at
    index = {"metadata": {"total_size": apparent}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(
        json.dumps(index, indent=2, sort_keys=True) + "\n"
    )
    return apparent


def _tensors(first: int, count: int) -> list[tuple[str, tuple[int, int]]]:
    found = []
    for n in range(first, first + count):
        kind = ("gate", "up", "down")[n // 2 % 3]
        what, columns = ("weight", 1024) if n % 2 else ("weight_scale", 32)
        name = f"model.layers.{n // 2304}.mlp.experts.{n // 6 % 384}.{kind}_proj.{what}"
        found.append((name, (2048, columns)))
    return found


def probe(folder: Path) -> None:
    """The whole probe, in this process; it must find nothing."""
    bound = (BoundInput("draft", "checkpoint", Role.SUBJECT, str(folder)),)
    evidence = run_probe(ProbeRun("file-integrity", bound, {}))
    assert {f.verdict for f in evidence.findings} == {Verdict.REFUTED, Verdict.NOT_RUN}


def by_safe_open(folder: Path) -> None:
    """What people write: keys, shapes and dtypes of every shard."""
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "np") as file:
            for name in file.keys():  # noqa: SIM118 - no dict
                part = file.get_slice(name)
                part.get_shape(), part.get_dtype()


def main() -> None:
    """Interleave, and print medians and the ratio."""
    per_shard = int(sys.argv[1]) if len(sys.argv) > 1 else 3250
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        apparent = write(folder, per_shard)
        times: dict[str, list[float]] = {"safe_open": [], "file-integrity": []}
        probe(folder)
        for _ in range(REPEATS):
            for side, run in (("safe_open", by_safe_open), ("file-integrity", probe)):
                began = time.perf_counter()
                run(folder)
                times[side].append(time.perf_counter() - began)
        for side, seconds in times.items():
            middle = statistics.median(seconds)
            print(
                f"{side:<15} {middle * 1e3:6.0f} ms [{min(seconds) * 1e3:.0f}..{max(seconds) * 1e3:.0f}]"
            )
        one, other = (statistics.median(t) for t in times.values())
        least = min(times["file-integrity"]) / min(times["safe_open"])
        print(
            f"{SHARDS * per_shard} tensors, {apparent / 1e9:.0f} GB apparent: "
            f"{other / one:.2f} times safe_open (of the minima {least:.2f}); the budget is 1.5"
        )


if __name__ == "__main__":
    main()
