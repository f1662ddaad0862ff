"""Print what each fault of the incident does to acceptance, by replaying the recorded sample at full size.

python -m hypotree_probes.incident.check [incident_weights.safetensors]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from hypotree_probes.eagle3.reference import Acceptance, Drafter, replay
from hypotree_probes.incident.data import data_file
from hypotree_probes.incident.expand import Incident, expand


def unloaded(weights: Mapping[str, Tensor], seed: int = 0) -> dict[str, Tensor]:
    """The decoder layer as an engine leaves it that never loads it: small random matrices, norms of ones."""
    generator = torch.Generator().manual_seed(seed)

    def left(name: str, tensor: Tensor) -> Tensor:
        if not name.startswith("layers.0."):
            return tensor
        if tensor.ndim == 1:
            return torch.ones_like(tensor)
        return (torch.randn(tensor.shape, generator=generator) * 0.02).to(tensor.dtype)

    return {name: left(name, tensor) for name, tensor in weights.items()}


def zeroed(weights: Mapping[str, Tensor], suffix: str) -> dict[str, Tensor]:
    """The weights with those tensors set to zero whose names end so."""
    return {
        name: torch.zeros_like(t) if name.endswith(suffix) else t for name, t in weights.items()
    }


def cases(incident: Incident) -> dict[str, Acceptance]:
    """Replay every case: name -> acceptance."""
    good, d2t, sample = incident.drafter, incident.d2t, incident.sample
    draft_ids = torch.arange(len(d2t))
    shuffle = torch.randperm(len(d2t), generator=torch.Generator().manual_seed(0))

    def run(
        weights: Mapping[str, Tensor] = good, states: str = "aux_hidden_states", d2t: Tensor = d2t
    ) -> Acceptance:
        drafter = Drafter(weights, incident.config, incident.embed_tokens)
        return replay(
            drafter,
            sample["input_ids"],
            sample[states],
            fuse=states != "hidden_states",
            num_draft=incident.num_draft,
            d2t=d2t,
            start=incident.prompt_length,
        )

    return {
        "healthy": run(),
        "fusion bypassed": run(states="hidden_states"),
        "bypassed + layer unloaded": run(unloaded(good), states="hidden_states"),
        "layer unloaded, fusion on": run(unloaded(good)),
        "map permuted": run(d2t=d2t[shuffle]),
        "map holds absolute ids": run(
            d2t=d2t + draft_ids
        ),  # the engine adds the draft id a second time
        "map minus arange": run(d2t=d2t - draft_ids),  # the incident's wrong fix
        "o_proj zero": run(zeroed(good, "self_attn.o_proj.weight")),
        "captured layers -1": run(states="aux_hidden_states_minus1"),
        "captured layers +1": run(states="aux_hidden_states_plus1"),
    }


def main(path: Path) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    began = time.monotonic()
    incident = expand(path)
    expanded = time.monotonic()
    root = incident.num_draft + 1
    print(f"{'case':<28}{'accept len':>11}{'rate /D':>9}{'verify':>8}  per position")
    for name, got in cases(incident).items():
        rates = " ".join(f"{rate:.3f}" for rate in got.per_position)
        print(
            f"{name:<28}{got.accept_length:>11.3f}{got.accept_rate(root):>9.3f}{got.verify_steps:>8}  {rates}"
        )
    print(f"expand {expanded - began:.2f} s, ten replays {time.monotonic() - expanded:.2f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else data_file("incident_weights.safetensors"))
