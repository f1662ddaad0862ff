"""What the engine itself makes of a draft config's aux-hidden-state fields.

The statements that read them (a `try` and the assignment before it, in
model_executor/model_runner.py up to 0.5.15 and spec_aux_hidden_state.py after) are cut out
and run with a config object that watches.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Final

from hypotree_probes.engines.harness.config import Watch, WatchedConfig
from hypotree_probes.engines.harness.importer import EngineFiles, engine_builtins
from hypotree_probes.engines.harness.lines import Lines
from hypotree_probes.engines.harness.slicing import parse, used
from hypotree_probes.engines.harness.stubs import Undecidable, stub

IDS: Final = "eagle_aux_hidden_state_layer_ids"
USE: Final = "eagle_use_aux_hidden_state"


def resolve(
    files: EngineFiles, paths: list[str], config: Mapping[str, Any], watch: Watch, lines: Lines
) -> dict[str, Any]:
    """The ids and the flag that the engine would act on."""
    for path in paths:
        if not files.has(path):
            continue
        for body, index in _places(parse(files, path)):
            return _run(path, body, index, config, watch, lines)
    raise Undecidable(f"no statement of {', '.join(paths) or 'no file'} reads {IDS}")


def _places(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], int]]:
    """Every `try` that reads the ids, innermost, with the block that it stands in."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            held = getattr(node, field, None)
            block: list[ast.stmt] = held if isinstance(held, list) else []
            for index, statement in enumerate(block):
                if isinstance(statement, ast.Try) and _reads(statement):
                    inner = [n for n in ast.walk(statement) if isinstance(n, ast.Try)]
                    if len(inner) == 1:
                        yield block, index


def _reads(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.Constant) and n.value == IDS for n in ast.walk(statement))


def _run(
    path: str,
    block: list[ast.stmt],
    index: int,
    config: Mapping[str, Any],
    watch: Watch,
    lines: Lines,
) -> dict[str, Any]:
    before = [
        s for s in block[:index] if isinstance(s, ast.Assign) and USE in ast.unparse(s.targets[0])
    ]
    chosen: list[ast.stmt] = [*before, block[index]]
    holder, draft = SimpleNamespace(), SimpleNamespace(hf_config=WatchedConfig(config, watch))
    names = {name for statement in chosen for name in used(statement)}
    space: dict[str, Any] = {
        name: stub(name) for name in names if name not in dir(__import__("builtins"))
    }
    space |= {"self": holder, "config": holder, "__builtins__": engine_builtins()}
    space |= {name: draft for name in names if name.endswith("model_config")}
    code = compile(ast.Module(chosen, []), f"<engine>/{path}", "exec", dont_inherit=True)
    with lines.watching():
        exec(code, space)  # noqa: S102 - the engine's own statements, boxed
    found = vars(holder) | {k: v for k, v in space.items() if k in {IDS, USE} and k not in names}
    ids = found.get(IDS, space.get(IDS))
    # The file and its lines are in the evidence; a release without the flag never switches it off.
    return {
        "file": path,
        "line": block[index].lineno,
        "ids": list(ids) if ids else ids,
        "use": found.get(USE),
    }
