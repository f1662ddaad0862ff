"""Hooks on every module: which ran, on which shapes, and what came out of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

Event = dict[str, Any]


class Recorder:
    """The calls of one model's modules, as events of a trace."""

    def __init__(self, model: nn.Module) -> None:
        self.events: list[Event] = []
        self.outputs: dict[str, Tensor] = {}
        """The first output of the latest call of each module."""
        self.phase = ""
        self._model = model

    def paths(self) -> list[str]:
        """Every hooked module."""
        return [path for path, _ in self._model.named_modules() if path]

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Set the hooks, and take them off again."""
        handles = [
            module.register_forward_hook(self._hook(path), with_kwargs=True)
            for path, module in self._model.named_modules()
            if path
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _hook(self, path: str) -> Any:
        def note(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            given, made = tensors((args, kwargs)), tensors(output)
            if made:
                self.outputs[path] = made[0]
            self.events.append({
                "event": "module_call", "call": len(self.events), "phase": self.phase,
                "module": path, "class": type(module).__name__,
                "in_shapes": [list(t.shape) for t in given],
                "out_shapes": [list(t.shape) for t in made], **_statistics(made),
            })  # fmt: skip

        return note


def tensors(value: Any) -> list[Tensor]:
    """Every tensor in a nest of arguments."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def _statistics(made: list[Tensor]) -> dict[str, Any]:
    if not made:
        return {}
    first = made[0]
    found: dict[str, Any] = {
        "dtype": str(first.dtype).removeprefix("torch."),
        "device": str(first.device),
    }
    if first.device.type != "meta" and first.is_floating_point() and first.numel():
        wide = first.detach().float()
        found |= {
            "mean": _plain(wide.mean()), "std": _plain(wide.std(unbiased=False)),
            "absmax": _plain(wide.abs().max()), "finite": bool(torch.isfinite(wide).all()),
        }  # fmt: skip
    return found


def _plain(value: Tensor) -> float | None:
    """JSON has no NaN."""
    number = float(value)
    return number if number - number == 0 else None
