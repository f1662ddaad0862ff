"""One tensor of a 2.4 GB checkpoint repaired: ours, verified and with undo, against load and save."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from bench.d2t import make_big_draft
from bench.measure import Runs, once, report

from hypotree.artifact.checkpoint import Checkpoint
from hypotree_probes.incident.d2t_map import incident_d2t
from hypotree_probes.planting import ids, safetensors_bytes

RUNS = 3
LOAD_AND_SAVE = """
import sys, torch
from safetensors.torch import load_file, save_file
path = sys.argv[1]
tensors = load_file(path)
tensors["d2t"] = tensors["d2t"] - torch.arange(len(tensors["d2t"]))
save_file(tensors, path)
"""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hypotree-bench-", dir=Path.cwd()) as scratch:
        folder = Path(scratch)
        _make(folder)
        file = folder / "draft" / "model.safetensors"
        size = file.stat().st_size
        for title, extra, goal in (
            (
                "sibling file (this disk shares no extents unless it is XFS or btrfs)",
                [],
                "no slower, under 150 MB",
            ),
            ("in place", ["--in-place"], "50 times faster, a thousandth of the bytes"),
        ):
            ours, theirs = Runs(), Runs()
            for round_ in range(RUNS + 1):
                _absolute(file)
                _run(folder, "probe", "run", "--session", str(folder), "H1")
                apply = _hypotree("fix", "apply", "--session", str(folder), "H1", *extra)
                mine, written = once(apply), 0
                _absolute(file)
                other = once([sys.executable, "-c", LOAD_AND_SAVE, str(file)])
                file.chmod(0o644)
                if round_:
                    ours.add(mine)
                    theirs.add(other)
                written = mine.bytes_written
            report(
                f"one-tensor fix of {size / 1e9:.2f} GB, {title}: {written / 1e6:.2f} MB written by ours, "
                f"{other.bytes_written / 1e6:.0f} MB by theirs",
                ours,
                theirs,
                ("hypotree fix apply", "load_file + save_file"),
                goal,
            )
        undo = once(_hypotree("undo", "--session", str(folder)))
        sys.stdout.write(f"  undo, in place: {undo.seconds * 1000:.0f} ms\n")


def _make(folder: Path) -> None:
    """The bench's session: a draft of real bytes, and the map that training used."""
    draft = folder / "draft"
    draft.mkdir()
    make_big_draft(draft)
    _fill(draft / "model.safetensors")
    (folder / "truth.safetensors").write_bytes(safetensors_bytes({"d2t": ids(incident_d2t())}))
    document = {
        "hypotree": 1,
        "symptom": "bench",
        "artifacts": {
            "draft": {"path": "draft", "role": "subject"},
            "map": {"path": "truth.safetensors", "role": "truth"},
        },
        "hypotheses": {
            "H1": {
                "claim": "d2t holds absolute ids", "fault": "d2t.absolute-ids", "probe": "d2t-format",
                "inputs": {"draft": "draft", "truth": "map"}, "fix": "d2t-to-offsets",
            }
        },
        "policy": {"approve": "auto"},
    }  # fmt: skip
    (folder / "session.yaml").write_text(yaml.safe_dump(document))


def _fill(file: Path) -> None:
    """Real bytes instead of a hole: a hole would copy for nothing."""
    where = Checkpoint(str(file)).headers()[file.name]
    block = os.urandom(1 << 22)
    end = max(at.end for name, at in where.tensors.items() if name != "d2t")
    with file.open("r+b") as out:
        out.seek(where.data_start)
        for at in range(where.data_start, end, len(block)):
            out.write(block[: end - at])


def _absolute(file: Path) -> None:
    """Store the target ids themselves."""
    checkpoint = Checkpoint(str(file))
    where = checkpoint.locate("d2t")
    assert where is not None
    targets = [i + v for i, v in enumerate(incident_d2t())]
    with file.open("r+b") as out:
        out.seek(where[1].begin)
        out.write(ids(targets).data)
        out.flush()
        os.fsync(out.fileno())


def _hypotree(*argv: str) -> list[str]:
    return [sys.executable, "-m", "hypotree", *argv]


def _run(folder: Path, *argv: str) -> None:
    subprocess.run(_hypotree(*argv), cwd=folder, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    main()
