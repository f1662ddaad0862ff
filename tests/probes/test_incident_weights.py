"""The shipped incident behaves as told: alive when healthy, at the floor by each fault, and the same on every run."""

from __future__ import annotations

import time

import pytest
import torch

from hypotree_probes.eagle3.reference import Acceptance
from hypotree_probes.incident.check import cases
from hypotree_probes.incident.d2t_map import incident_d2t
from hypotree_probes.incident.data import data_file
from hypotree_probes.incident.expand import Incident, expand
from hypotree_probes.incident.target import CAPTURED, HIDDEN, LAYERS

WEIGHTS = data_file("incident_weights.safetensors")
FLOOR = 1.10


@pytest.fixture(scope="module")
def incident() -> Incident:
    return expand(WEIGHTS)


@pytest.fixture(scope="module")
def table(incident: Incident) -> dict[str, Acceptance]:
    return cases(incident)


def test_healthy_is_alive(table: dict[str, Acceptance]) -> None:
    assert table["healthy"].accept_length > 3.0


@pytest.mark.parametrize(
    "case",
    [
        "fusion bypassed",
        "bypassed + layer unloaded",
        "layer unloaded, fusion on",
        "map permuted",
        "map holds absolute ids",
        "map minus arange",
    ],
)
def test_fault_is_at_the_floor(table: dict[str, Acceptance], case: str) -> None:
    assert table[case].accept_length <= FLOOR


@pytest.mark.parametrize("case", ["o_proj zero", "captured layers -1", "captured layers +1"])
def test_fault_costs_half_a_token(table: dict[str, Acceptance], case: str) -> None:
    assert table[case].accept_length <= table["healthy"].accept_length - 0.5


def test_full_sizes(incident: Incident) -> None:
    assert (LAYERS, CAPTURED) == (61, (2, 30, 58))
    assert incident.d2t.tolist() == incident_d2t()
    assert (
        incident.embed_tokens.shape == (163_840, HIDDEN)
        and incident.embed_tokens.dtype == torch.bfloat16
    )
    assert incident.drafter["lm_head.weight"].shape == (32_000, HIDDEN)
    assert incident.drafter["fc.weight"].shape == (HIDDEN, 3 * HIDDEN)
    assert incident.sample["aux_hidden_states"].shape == (
        len(incident.sample["input_ids"]),
        3 * HIDDEN,
    )


def test_every_sample_token_can_be_drafted(incident: Incident) -> None:
    targets = torch.arange(32_000) + incident.d2t
    assert torch.isin(incident.sample["input_ids"], targets).all()


def test_expansion_is_quick_and_repeatable(incident: Incident) -> None:
    began = time.perf_counter()
    again = expand(WEIGHTS)
    assert time.perf_counter() - began < 2
    assert torch.equal(again.embed_tokens, incident.embed_tokens)
    assert all(
        torch.equal(again.drafter[name], tensor) for name, tensor in incident.drafter.items()
    )


def test_small_enough_to_ship() -> None:
    assert WEIGHTS.stat().st_size < 600_000
