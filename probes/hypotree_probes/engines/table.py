"""What each release does with each producer's checkpoint: made by running the releases' sources.

    python -m hypotree_probes.engines.table --cases DIR sglang@0.5.9 sglang@0.5.12 ...

Wheels come from the cache, or are fetched into it. DIR holds one folder a producer.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree_probes.engines.adapters import ADAPTERS
from hypotree_probes.engines.asking import ask_about_draft, flat_config, run
from hypotree_probes.engines.fetch import fetch
from hypotree_probes.engines.harness.client import HarnessError
from hypotree_probes.engines.ledger_from_run import ledger_from_run, rule_from_run
from hypotree_probes.engines.sizes import draft_sizes

IDS: Final = [2, 30, 58]
_SIZES: Final = {"num_hidden_layers": 61, "hidden_size": 7168}
_TARGET: Final = {**_SIZES, "text_config": _SIZES}
_TARGETS: Final = {
    "Llama": "LlamaForCausalLM", "Kimi-K2.5": "KimiK25ForConditionalGeneration",
    "DeepSeek": "DeepseekV3ForCausalLM",
}  # fmt: skip

Row = tuple[str, ...]


def draft_row(engine: Engine, folder: Path) -> Row:
    """Release, producer, parameters filled, unwritten and dropped, fc at 3H and at H."""
    draft = Checkpoint(str(folder))
    release = f"{engine.name} {engine.version()}"
    shapes = {name: at.shape for name, at in sorted(draft.layouts().items())}
    hidden = int(flat_config(draft.config())[0]["hidden_size"])
    try:
        found = ask_about_draft(engine, draft, {"coverage": shapes, "widths": [3 * hidden, hidden]})
    except HarnessError as failure:
        return (release, folder.name, f"{failure.kind}: {failure.why}"[:90], "", "", "", "")
    ledger = ledger_from_run(
        shapes, rule_from_run(engine, found), found["coverage"], draft_sizes(draft.config())
    )
    lost = len(ledger.unwritten) + ledger.lacks_head
    fired = [_fires(entry) for entry in found["widths"]]
    return (
        release, folder.name, str(ledger.parameters - lost), str(lost), str(len(ledger.dropped)),
        *fired,
    )  # fmt: skip


def _fires(entry: dict[str, Any]) -> str:
    if any(call["module"].rpartition(".")[2] == "fc" for call in entry["events"]):
        return "fires"
    return "stops" if entry.get("raised") else "silent"


def target_row(engine: Engine) -> tuple[Row, list[str]]:
    """Release, layers captured for the ids on three targets, and the wrappers that do not delegate."""
    adapter = ADAPTERS[engine.name]
    classes = list(_entry_classes(engine, adapter.models))
    entries = [
        {"file": file, "class": name, "config": _TARGET, "ids": [IDS, None]}
        for file, name in classes
    ]
    request = {
        "package": adapter.package, "models": adapter.module, "config": {},
        "tasks": {"setters": entries},
    }  # fmt: skip
    found = run(engine, request)["setters"]
    by_class = {entry["class"]: entry for entry in found}
    captured = [_said(by_class.get(name)) for name in _TARGETS.values()]
    faults = [text for entry in found if (text := _fault(entry))]
    opened = sum("undecidable" in entry for entry in found)
    counts = [sum(_outcome(entry) == kind for entry in found) for kind in ("set", "silent", "none")]
    row = (f"{engine.name} {engine.version()}", *captured, *map(str, counts), str(opened))
    return row, faults


def _outcome(entry: dict[str, Any]) -> str:
    return str(entry["answers"][0]["outcome"]) if "answers" in entry else ""


def _said(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "no class"
    if "answers" not in entry:
        return "cannot tell"
    answer = entry["answers"][0]
    return str(answer["layers"]) if answer["outcome"] == "set" else str(answer["outcome"])


def _fault(entry: dict[str, Any]) -> str:
    """A wrapper whose inner model could capture and is never told, or a setter that sets nothing."""
    inner, outcome = entry.get("inner"), _outcome(entry)
    where = f"{Path(entry['file']).stem}.{entry['class']}"
    if outcome == "none" and inner and inner["has_setter"]:
        return f"{where}: no setter, though {inner['class']} has one"
    return f"{where}: its setter sets nothing" if outcome == "silent" else ""


def _entry_classes(engine: Engine, models: str) -> Iterator[tuple[str, str]]:
    """Every class that a model file offers to the engine's registry."""
    for file in engine.tree.names():
        if not (file.startswith(f"{models}/") and file.endswith(".py")):
            continue
        held = engine.tree.open(file)
        text = held.read(0, held.size)
        for statement in ast.parse(text).body if b"EntryClass" in text else ():
            is_entry = isinstance(statement, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == "EntryClass" for t in statement.targets
            )
            for node in ast.walk(statement) if is_entry else ():
                if isinstance(node, ast.Name) and node.id != "EntryClass":
                    yield file, node.id


def _print(columns: Row, rows: Sequence[Row]) -> None:
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    for row in (columns, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    sys.stdout.write("\n")


def main(arguments: Sequence[str]) -> int:
    """Print both tables, and the wrappers that do not delegate."""
    parser = argparse.ArgumentParser(prog="python -m hypotree_probes.engines.table")
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("engines", nargs="+")
    given = parser.parse_args(arguments)
    drafts = sorted(path.parent for path in given.cases.glob("*/model.safetensors"))
    rows, targets, faults = [], [], []
    for spec in given.engines:
        if "@" in spec:
            fetch(spec)
        engine = Engine(spec)
        rows += [draft_row(engine, folder) for folder in drafts]
        if ADAPTERS[engine.name].resolvers:
            row, wrong = target_row(engine)
            targets.append(row)
            faults += [f"{row[0]}: {text}" for text in wrong]
    _print(("engine", "checkpoint", "written", "unwritten", "dropped", "fc at 3H", "fc at H"), rows)
    captured = tuple(f"{IDS} on {name}" for name in _TARGETS)
    if targets:
        _print(("engine", *captured, "set", "silent", "no setter", "cannot tell"), targets)
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
