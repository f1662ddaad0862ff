"""The tasks that a request may name, each a function of the loaded engine."""

from __future__ import annotations

from typing import Any

import torch

from hypotree_probes.engines.harness.environment import SLICED, STAND_INS
from hypotree_probes.engines.harness.importer import EngineFiles, EngineFinder, install, load
from hypotree_probes.engines.harness.config import Watch
from hypotree_probes.engines.harness.coverage_task import coverage
from hypotree_probes.engines.harness.draft import Draft
from hypotree_probes.engines.harness.lines import Lines


def run_tasks(request: dict[str, Any], parent: Any) -> dict[str, Any]:
    """Import the draft class and run every task that the request names."""
    torch.set_num_threads(int(request.get("threads", 1)))
    torch.manual_seed(0)
    _quiet_device()
    files = EngineFiles(request["package"], parent.file)
    models = request["models"]
    finder = EngineFinder(files, lambda name: name.startswith(f"{models}."), STAND_INS, SLICED)
    install(finder)
    lines, watch = Lines(), Watch()
    result: dict[str, Any] = {}
    tasks = request["tasks"]
    if tasks.get("draft"):
        module = load(request["module"])
        draft = Draft(getattr(module, request["class"]), request["config"], watch)
        if "coverage" in tasks:
            shapes = {name: tuple(shape) for name, shape in tasks["coverage"].items()}
            result["coverage"] = coverage(draft, shapes, lines)
    result["lines"] = lines.report()
    result["config_reads"] = watch.reads
    return result


def _quiet_device() -> None:
    """What engines call after changing parameters; there may be no device to synchronise."""
    torch.cuda.empty_cache = lambda: None
    torch.cuda.synchronize = lambda *_: None
