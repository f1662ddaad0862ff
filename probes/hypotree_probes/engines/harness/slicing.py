"""Cut one name out of a source file: its definition, and the top-level lines that it needs.

Most files of an engine cannot be imported without its GPU libraries, while the function
that matters is plain Python. The cut runs the engine's own lines, only fewer of them; names
that no top-level statement binds are builtins or an error.
"""

from __future__ import annotations
import __future__

import ast
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hypotree_probes.engines.harness.importer import EngineFiles


_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)


def cut(files: EngineFiles, path: str, name: str) -> Any:
    """The value of `name` in the file at `path`; KeyError if nothing at its top level binds it."""
    tree = parse(files, path)
    if name in bindings(tree):
        return run_slice(tree, path, [name], module_of(files, path))[name]
    for module in _starred(tree, files.package):
        inner = files.path(module)
        if inner is not None:
            return cut(files, inner, name)
    raise KeyError(name)


def parse(files: EngineFiles, path: str) -> ast.Module:
    """The syntax tree of one file."""
    return ast.parse(files.text(path) or b"", f"<engine>/{path}")


def _starred(tree: ast.Module, package: str) -> list[str]:
    """Modules of the engine that a file takes every name from."""
    froms = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    return [
        str(node.module)
        for node in froms
        if node.names[0].name == "*" and str(node.module).startswith(f"{package}.")
    ]


def module_of(files: EngineFiles, path: str) -> str:
    """The dotted name of a file's module."""
    stem = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return files.package if stem == "__init__" else f"{files.package}.{stem}"


def run_slice(tree: ast.Module, path: str, names: Iterable[str], module: str) -> dict[str, Any]:
    """The namespace after running the statements that bind `names` and all that these need."""
    bound = bindings(tree)
    chosen: dict[int, ast.stmt] = {}
    waiting = list(names)
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in bound:
            continue
        seen.add(name)
        for statement in bound[name]:
            if id(statement) not in chosen:
                chosen[id(statement)] = statement
                waiting += used(statement)
    body = [statement for statement in _flat(tree.body) if id(statement) in chosen]
    # Annotations as text: they decide nothing, and would drag in half the engine.
    from hypotree_probes.engines.harness.importer import engine_builtins

    flags = __future__.annotations.compiler_flag
    name = f"<engine>/{path}"
    code = compile(ast.Module(body, []), name, "exec", flags, dont_inherit=True)
    space = ModuleType(module).__dict__
    space["__package__"] = module.rpartition(".")[0]
    space["__builtins__"] = engine_builtins()
    exec(code, space)  # noqa: S102 - the engine's own lines, boxed
    return space


def bindings(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    """Every name bound at top level, with the statements that bind it."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in _flat(tree.body):
        for name in _bound(statement):
            found.setdefault(name, []).append(statement)
    return found


def used(node: ast.AST) -> set[str]:
    """Every name that a node reads outside annotations, whether or not it is a global one."""
    found: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        at = waiting.pop()
        if isinstance(at, ast.Name) and isinstance(at.ctx, ast.Load):
            found.add(at.id)
        skipped = {id(getattr(at, "annotation", None)), id(getattr(at, "returns", None))}
        waiting += [child for child in ast.iter_child_nodes(at) if id(child) not in skipped]
    return found


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Top-level statements; `if TYPE_CHECKING` is never true, other branches stay whole."""
    for statement in body:
        is_typing = isinstance(statement, ast.If) and "TYPE_CHECKING" in used(statement.test)
        if not is_typing:
            yield statement


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, _DEFINITIONS):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (a.asname or a.name.partition(".")[0] for a in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
