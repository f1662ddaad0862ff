"""Flip one comparison of a function by AST, for as long as a test lasts."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager

FLIPS = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def comparisons(module: str, function: str) -> list[str]:
    """Every comparison of the function, in source form."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    return [ast.unparse(node) for node in _of(tree, function)]


def _of(tree: ast.Module, function: str) -> list[ast.Compare]:
    found = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function)
    return [node for node in ast.walk(found) if isinstance(node, ast.Compare)]


@contextmanager
def flipped(module: str, function: str, comparison: str) -> Iterator[None]:
    """The function with that comparison turned round."""
    loaded = importlib.import_module(module)
    tree = ast.parse(inspect.getsource(loaded))
    node = next(n for n in _of(tree, function) if ast.unparse(n) == comparison)
    node.ops[0] = FLIPS[type(node.ops[0])]()
    space = dict(vars(loaded))
    exec(compile(ast.fix_missing_locations(tree), module, "exec"), space)
    target, mutant = _function(vars(loaded), function), _function(space, function)
    original = target.__code__
    target.__code__ = mutant.__code__
    try:
        yield
    finally:
        target.__code__ = original


def _function(space: dict[str, object], name: str):
    if name in space:
        return space[name]
    classes = [v for v in space.values() if inspect.isclass(v) and name in vars(v)]
    found = vars(classes[-1])[name]
    return found.fget if isinstance(found, property) else found
