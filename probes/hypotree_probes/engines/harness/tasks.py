"""The tasks that a request may name. Those about a target or a config need no torch."""

from __future__ import annotations

from typing import Any, Final

from hypotree_probes.engines.harness.config import Watch
from hypotree_probes.engines.harness.importer import EngineFiles, EngineFinder, install
from hypotree_probes.engines.harness.lines import Lines
from hypotree_probes.engines.harness.ranks import SLICED, stand_ins
from hypotree_probes.engines.harness.resolver_task import resolve
from hypotree_probes.engines.harness.setter_task import captures
from hypotree_probes.engines.harness.stubs import Undecidable

#: In the place of a list of ids: those that the engine itself read from the draft's config.
RESOLVED: Final = "resolved"


def run_tasks(request: dict[str, Any], parent: Any) -> dict[str, Any]:
    """Install the import hook and run every task that the request names."""
    package = request["package"]
    files = EngineFiles(package, parent.file, parent.has)
    models = f"{request['models']}."
    install(EngineFinder(files, lambda name: name.startswith(models), stand_ins(package), SLICED))
    lines, watch = Lines(), Watch()
    tasks = request["tasks"]
    result: dict[str, Any] = {}
    if "resolve" in tasks:
        result["resolved"] = resolve(files, tasks["resolve"], request["config"], watch, lines)
    if "setters" in tasks:
        ids = result.get("resolved", {}).get("ids")
        result["setters"] = [_guarded(files, entry, ids, lines) for entry in tasks["setters"]]
    if tasks.get("draft"):
        from hypotree_probes.engines.harness.draft_tasks import run_draft_tasks

        result |= run_draft_tasks(request, parent, watch, lines)
    return result | {"lines": lines.report(), "config_reads": watch.reads}


def _guarded(
    files: EngineFiles, entry: dict[str, Any], resolved: list[int] | None, lines: Lines
) -> dict[str, Any]:
    """One target class; what cannot be decided about it decides nothing about the others."""
    about = {"class": entry["class"], "file": entry["file"]}
    asked = [resolved if ids == RESOLVED else ids for ids in entry["ids"]]
    try:
        return captures(files, entry["file"], entry["class"], entry["config"], asked, lines)
    except Undecidable as refused:
        return about | {"undecidable": str(refused)}
    except SyntaxError as error:
        return about | {"undecidable": f"SyntaxError: {error.msg} in line {error.lineno}"}
