"""Target classes cut out of their files: the setter, its inheritance, and what it delegates to.

A target's model file cannot be imported without its kernels, but the method that chooses the
layers is plain Python. So the class is rebuilt with the methods that the setter needs, its
bases are followed through the engine's files, and attributes that its `__init__` would have
made are made when they are asked for. What cannot be found so is a stub, and ends the question
if its answer matters.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from hypotree_probes.engines.harness.importer import EngineFiles
from hypotree_probes.engines.harness.slicing import bindings, module_of, parse

SETTER: Final = "set_eagle3_layers_to_capture"
#: Bases outside the engine that have no setter, whatever else they have.
_PLAIN: Final = frozenset({"nn.Module", "torch.nn.Module", "Module", "object", "ABC", "Generic"})
_MAX_DEPTH: Final = 12


@dataclass(frozen=True)
class ClassPlace:
    """A class statement in one of the engine's files."""

    path: str
    node: ast.ClassDef


class Classes:
    """Finds class statements by following imports."""

    def __init__(self, files: EngineFiles) -> None:
        self.files = files
        self._trees: dict[str, ast.Module] = {}

    def tree(self, path: str) -> ast.Module:
        """The syntax tree of a file, parsed once."""
        if path not in self._trees:
            self._trees[path] = parse(self.files, path)
        return self._trees[path]

    def _is_foreign(self, path: str, name: str) -> bool:
        """Whether a base comes from transformers or torch, which know of no such setter."""
        for statement in bindings(self.tree(path)).get(name.partition(".")[0], []):
            modules = [n.module or "" for n in ast.walk(statement) if isinstance(n, ast.ImportFrom)]
            if any(m.partition(".")[0] in {"transformers", "torch", "abc"} for m in modules):
                return True
        return False

    def find(self, path: str, name: str, depth: int = 0) -> ClassPlace | None:
        """The class that `name` means in a file; None if it is none of the engine's."""
        bound = bindings(self.tree(path)).get(name, [])
        for statement in reversed(bound):
            if isinstance(statement, ast.ClassDef):
                return ClassPlace(path, statement)
            if found := self.imported_in(statement, path, name, depth):
                return found
        return None

    def imported_in(self, node: ast.AST, path: str, name: str, depth: int = 0) -> ClassPlace | None:
        """The class that an import somewhere in `node` calls `name`."""
        if depth >= _MAX_DEPTH:
            return None
        imports = (inner for inner in ast.walk(node) if isinstance(inner, ast.ImportFrom))
        found = (self._imported(path, inner, name, depth) for inner in imports)
        return next((place for place in found if place), None)

    def _imported(
        self, path: str, node: ast.ImportFrom, name: str, depth: int
    ) -> ClassPlace | None:
        original = next((a.name for a in node.names if (a.asname or a.name) == name), None)
        if original is None:
            return None
        module = node.module or ""
        if node.level:
            package = module_of(self.files, path).rpartition(".")[0]
            for _ in range(node.level - 1):
                package = package.rpartition(".")[0]
            module = f"{package}.{module}".rstrip(".")
        if not module.startswith(f"{self.files.package}."):
            return None
        inner = self.files.path(module)
        return self.find(inner, original, depth + 1) if inner else None

    def lineage(self, place: ClassPlace) -> list[ClassPlace]:
        """The class and all its bases in the engine, nearest first; `Undecidable` for others."""
        found = [place]
        for base in place.node.bases:
            # `Generic[T]` and other subscripts stand for the class that is subscripted.
            target = base.value if isinstance(base, ast.Subscript) else base
            name = ast.unparse(target)
            if name in _PLAIN or self._is_foreign(place.path, name):
                continue
            inner = self.find(place.path, name) if isinstance(target, ast.Name) else None
            if inner is not None:
                same = inner.path == place.path and inner.node is place.node
                if not same and len(found) < _MAX_DEPTH:
                    found += self.lineage(inner)
            else:
                found.append(ClassPlace(f"?{name}", place.node))
        return found


def method(place: ClassPlace, name: str) -> ast.FunctionDef | None:
    """A method of exactly this class."""
    for node in place.node.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    return None


def made_in_init(lineage: list[ClassPlace], attribute: str) -> tuple[ClassPlace, ast.expr] | None:
    """The expression that `__init__` gives to `self.attribute`, with the class that does; calls first."""
    found: list[tuple[ClassPlace, ast.expr]] = []
    for place in lineage:
        init = None if place.path.startswith("?") else method(place, "__init__")
        for node in ast.walk(init) if init else ():
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                targets, value = [node.target], node.value
            else:
                continue
            if any(_is_self(target, attribute) for target in targets):
                found.append((place, value))
        if found:
            break
    calls = [pair for pair in found if isinstance(pair[1], ast.Call)]
    chosen = calls or found
    return chosen[0] if chosen else None


def _is_self(node: ast.expr, attribute: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )
