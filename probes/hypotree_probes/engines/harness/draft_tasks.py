"""The tasks about a draft class: its loading, and its forward."""

from __future__ import annotations

import resource
from typing import Any

import torch

from hypotree.artifact.tensor import TensorValue
from hypotree_probes.eagle3.torch_tensors import to_torch
from hypotree_probes.engines.harness.attention import Rope
from hypotree_probes.engines.harness.compare import compare
from hypotree_probes.engines.harness.config import Watch
from hypotree_probes.engines.harness.coverage_task import coverage
from hypotree_probes.engines.harness.draft import Draft, Make
from hypotree_probes.engines.harness.forward_task import shapes_only, values
from hypotree_probes.engines.harness.importer import load
from hypotree_probes.engines.harness.lines import Lines


def run_draft_tasks(
    request: dict[str, Any], parent: Any, watch: Watch, lines: Lines
) -> dict[str, Any]:
    """Import the draft class and run the tasks about it."""
    torch.set_num_threads(int(request.get("threads", 1)))
    torch.manual_seed(0)
    _quiet_device()
    tasks, module = request["tasks"], load(request["module"])
    make: Make | None = None
    if request["package"] == "vllm":
        from hypotree_probes.engines.harness import vllm_environment

        make = vllm_environment.make
    draft = Draft(getattr(module, request["class"]), request["config"], watch, make)
    result: dict[str, Any] = {}
    if "coverage" in tasks:
        shapes = {name: tuple(shape) for name, shape in tasks["coverage"].items()}
        result["coverage"] = coverage(draft, shapes, lines)
    if "widths" in tasks:
        result["widths"] = shapes_only(draft, tasks["widths"], lines)
    if "values" in tasks:
        try:
            result["values"] = _values(draft, tasks["values"], request["config"], parent, lines)
        except (MemoryError, PermissionError):
            raise
        except Exception as error:  # noqa: BLE001 - a forward that stops the engine is an answer
            result["stopped"] = f"{type(error).__name__}: {error}"[:500]
    if "rope" in tasks:
        result["rope"] = _rope(draft)
    return result


def _rope(draft: Draft) -> list[list[Any]]:
    """The rotary embeddings that the class asked for: where, base, scaling."""
    modules = draft.build().named_modules()
    return [[path, m.base, dict(m.scaling)] for path, m in modules if isinstance(m, Rope)]


def _values(
    draft: Draft, options: dict[str, Any], config: dict[str, Any], parent: Any, lines: Lines
) -> dict[str, Any]:
    weights = {name: _tensor(parent, name, entry) for name, entry in options["tensors"].items()}
    if options.get("rows"):
        draft = draft.smaller(options["rows"])
    run = values(draft, weights, options, lines)
    logits = run["logits"].float()
    result = {
        "events": run["events"], "hooks": run["hooks"], "seconds": run["seconds"],
        "finite": bool(torch.isfinite(logits).all()),
        "spread": float(logits.std(0, unbiased=False).max()), "peak_memory": _peak(options["device"]),
    }  # fmt: skip
    if options.get("compare"):
        plain = {n: t for n, t in weights.items() if not n.endswith("embed_tokens.weight")}
        try:
            result["compared"] = compare(run, plain, config, options["dtype"])
        except (KeyError, ValueError, RuntimeError, StopIteration) as error:
            # The reference needs every weight; what is missing is another probe's to say.
            result["uncomparable"] = f"{type(error).__name__}: {error}"[:300]
    return result


def _tensor(parent: Any, name: str, entry: list[Any]) -> torch.Tensor:
    dtype, shape = entry
    value = TensorValue(dtype, tuple(shape), parent.tensor(name))
    return to_torch(value)


def _peak(device: str) -> int:
    if device.startswith("cuda"):
        return int(torch.cuda.max_memory_allocated())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _quiet_device() -> None:
    """What engines call after changing parameters; there may be no device to synchronise."""
    torch.cuda.empty_cache = lambda: None
    torch.cuda.synchronize = lambda *_: None
