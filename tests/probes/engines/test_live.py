"""The hooks of a running engine, on a model that calls them as SGLang does."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import torch
from front.command import hypotree
from torch import nn

from hypotree.artifact.trace import Trace
from hypotree_probes.engines import live


class Drafter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 2)

    def forward(self, states: torch.Tensor, batch: object) -> torch.Tensor:
        return self.fc(states) if states.shape[-1] != 2 else states


def record(tmp_path: Path, phases: list[tuple[str, int]]) -> Path:
    """What a worker would write for these forwards."""
    live._WRITERS.clear()
    model = nn.Module()
    model.model = Drafter()
    specs = json.loads(hypotree("trace", "spec", "sglang", "-o", str(tmp_path / "t.jsonl")).stdout)
    names = dict(model.named_modules())
    for spec in specs:
        hook = live.hook(spec["config"])
        for name in spec["target_modules"]:
            if name in names:
                names[name].register_forward_hook(hook)
    for mode, width in phases:
        batch = SimpleNamespace(forward_mode=SimpleNamespace(name=mode))
        model.model(torch.zeros(1, width), batch)
    for writer in live._WRITERS.values():
        writer.close()
    return tmp_path / "t.rank0.jsonl"


def test_calls_are_written_with_their_phase_and_a_canary(tmp_path: Path) -> None:
    trace = Trace(str(record(tmp_path, [("DRAFT_EXTEND", 6), ("DECODE", 2)]))).record()
    assert trace.state == "complete"
    assert [(c.phase, c.module) for c in trace.calls] == [
        ("draft_extend", "model.fc"), ("draft_extend", "model"), ("draft_decode", "model"),
    ]  # fmt: skip
    assert trace.canary.eager == 3
    assert trace.canary.captured == 0


def test_show_says_what_fired_and_what_was_silent(tmp_path: Path) -> None:
    file = record(tmp_path, [("DRAFT_EXTEND", 2)])
    done = hypotree("trace", "show", str(file))
    assert done.returncode == 0
    assert "hooked and silent" in done.stdout
    assert "model.fc" in done.stdout


def test_calls_under_a_capture_are_told_apart(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(live, "_is_capturing", lambda: True)
    file = record(tmp_path, [("DECODE", 2)])
    assert "not what graph replay served" in hypotree("trace", "show", str(file)).stdout


def test_a_file_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    assert live.hook({"module": "model", "path": str(tmp_path / "no" / "where.jsonl")}) is None


def test_a_trace_is_bounded(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(live, "_LIMIT", 4)
    file = record(tmp_path, [("DRAFT_EXTEND", 6)] * 10)
    assert Trace(str(file)).record().state == "complete"
    assert len(file.read_text().splitlines()) < 10
