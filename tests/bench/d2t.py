"""A d2t verdict on a 2.4 GB checkpoint against the one-liner that people use."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from bench.measure import alternate, report

from hypotree.artifact.tensor import TensorValue
from hypotree_probes.incident.d2t_map import incident_d2t

#: The tensors of the incident's drafter at its real size (hidden 7168), bf16.
SHAPES = {
    "fc.weight": (7168, 21504),
    "layers.0.self_attn.q_proj.weight": (8192, 14336),
    "layers.0.self_attn.k_proj.weight": (8192, 14336),
    "layers.0.self_attn.v_proj.weight": (8192, 14336),
    "layers.0.self_attn.o_proj.weight": (7168, 8192),
    "layers.0.mlp.gate_proj.weight": (18432, 7168),
    "layers.0.mlp.up_proj.weight": (18432, 7168),
    "layers.0.mlp.down_proj.weight": (7168, 18432),
    "lm_head.weight": (32000, 7168),
}
ONE_LINER = (
    "from safetensors.torch import load_file\nt = load_file({path!r})\nprint(t['d2t'][:20])\n"
)


def make_big_draft(folder: Path) -> Path:
    """A 2.4 GB checkpoint with a true header and map; the weights are a hole in the file."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape in SHAPES.items():
        size = 2 * shape[0] * shape[1]
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    d2t = TensorValue.of_integers("I64", (32_000,), incident_d2t()).data
    header["d2t"] = {"dtype": "I64", "shape": [32_000], "data_offsets": [at, at + len(d2t)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.seek(at, 1)
        file.write(d2t)
    config = {"vocab_size": 163_840, "draft_vocab_size": 32_000, "hidden_size": 7168}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hypotree-bench-") as scratch:
        draft = make_big_draft(Path(scratch))
        file = draft / "model.safetensors"
        script = ONE_LINER.format(path=str(file))
        ours = [
            sys.executable,
            "-m",
            "hypotree",
            "probe",
            "run",
            "d2t-format",
            "--draft",
            str(draft),
        ]
        results = alternate(ours, [sys.executable, "-c", script])
        report(
            f"d2t verdict, whole process, {file.stat().st_size / 1e9:.2f} GB",
            *results,
            ("hypotree probe run d2t-format", "safetensors.torch, three lines"),
            "10 times faster, under 60 MB",
        )


if __name__ == "__main__":
    main()
