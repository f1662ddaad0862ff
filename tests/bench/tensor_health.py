"""tensor-health against whole-tensor torch, interleaved; prints the ratios of DESIGN.md section 10.

python tests/bench/tensor_health.py [MIB]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.model.verdict import Role
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
from hypotree_probes.files.tensor_scan import scan_tensors

REPEATS = 3


def write(path: Path, mib: int) -> None:
    """Eight BF16 matrices of one size."""
    rows = mib * 1024 * 1024 // 8 // 2 // 4096
    each = rows * 4096 * 2
    entries = (
        f'"layers.0.m{i}.weight":{{"dtype":"BF16","shape":[{rows},4096],'
        f'"data_offsets":[{i * each},{(i + 1) * each}]}}'
        for i in range(8)
    )
    header = ("{" + ",".join(entries) + "}").encode()
    draw = np.random.default_rng(0)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _ in range(8 * each // (1 << 21)):
            bits = draw.normal(0, 0.02, 1 << 20).astype("<f4").view("<u4") >> 16
            file.write(bits.astype("<u2").tobytes())


def probe(path: Path) -> None:
    """The whole probe, in this process."""
    bound = (BoundInput("draft", "checkpoint", Role.SUBJECT, str(path)),)
    run_probe(ProbeRun("tensor-health", bound, {}))


def by_torch(path: Path) -> None:
    """What people write: op by op on whole tensors."""
    with safe_open(path, "pt") as file:
        for name in file.keys():  # noqa: SIM118 - no dict
            value = file.get_tensor(name)
            wide = value.float()
            value.isnan().any(), value.isinf().any(), (value == 0).sum()
            wide.mean(), wide.std(), wide.abs().max()


def read(path: Path) -> None:
    """The page cache's own speed, one thread."""
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(1024 * 1024)
        while file.readinto(buffer):
            pass


def main() -> None:
    """Interleave, and print medians and ratios."""
    mib = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        write(path, mib)
        times: dict[str, list[float]] = {"read": [], "torch": [], "tensor-health": []}
        sides = {"read": read, "torch": by_torch, "tensor-health": probe}
        scan_tensors(Checkpoint(str(path)), ["layers.0.m0.weight"], lambda *_: None)
        for _ in range(REPEATS):
            for name, side in sides.items():
                began = time.perf_counter()
                side(path)
                times[name].append(time.perf_counter() - began)
        for name, seconds in times.items():
            middle = statistics.median(seconds)
            low, high = min(seconds), max(seconds)
            print(f"{name:<14} {middle * 1e3:8.0f} ms [{low * 1e3:.0f}..{high * 1e3:.0f}]"
                  f"  {mib / 1024 / middle:6.2f} GiB/s")  # fmt: skip
        mine = statistics.median(times["tensor-health"])
        print(f"{mib} MiB, {torch.get_num_threads()} torch threads: "
              f"{statistics.median(times['torch']) / mine:.1f} times faster than torch, "
              f"{100 * statistics.median(times['read']) / mine:.0f} % of the read rate")  # fmt: skip
        peak = subprocess.run(
            [sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=True
        )
        print(f"peak memory of the process: {int(peak.stdout) // 1024} MiB")


_PEAK = """
import sys
from pathlib import Path
from hypotree.model.verdict import Role
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
run_probe(ProbeRun("tensor-health", (BoundInput("draft", "checkpoint", Role.SUBJECT, sys.argv[1]),), {}))
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""

if __name__ == "__main__":
    main()
