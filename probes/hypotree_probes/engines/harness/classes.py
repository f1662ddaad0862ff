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
from types import SimpleNamespace
from typing import Any, Final

from hypotree_probes.engines.harness.environment import GROUP
from hypotree_probes.engines.harness.importer import EngineFiles
from hypotree_probes.engines.harness.slicing import bindings, module_of, parse, run_slice
from hypotree_probes.engines.harness.stubs import Mute, Undecidable

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
    return (calls or found or [None])[0]


def _is_self(node: ast.expr, attribute: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


class Built:
    """An instance without its `__init__`: attributes are made when they are asked for."""

    def __init__(self, classes: Classes, place: ClassPlace, config: Any, log: list[Any]) -> None:
        self.__dict__["_h"] = (classes, classes.lineage(place), log)
        self.__dict__["config"] = config
        self.__dict__["_h_path"] = place.node.name

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value
        log = self.__dict__["_h"][2]
        log.append((self.__dict__["_h_path"], name, value))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        classes, lineage, _ = self.__dict__["_h"]
        for place in lineage:
            if place.path.startswith("?"):
                if name == SETTER:
                    raise Undecidable(f"{place.node.name} derives from {place.path[1:]}")
                continue
            if found := method(place, name):
                return self._bound(classes, place, found)
        return self._made(name)

    def _bound(self, classes: Classes, place: ClassPlace, node: ast.FunctionDef) -> Any:
        """The method, compiled out of its class with the top-level names that it uses."""
        tree = classes.tree(place.path)
        name = f"<engine>/{place.path}"
        kinds = {ast.unparse(d) for d in node.decorator_list}
        plain = _undecorated(node)
        module = ast.Module([*tree.body, plain], [])
        function = run_slice(module, place.path, [plain.name], module_of(classes.files, place.path))[plain.name]
        function.__code__ = function.__code__.replace(co_filename=name, co_qualname=f"{place.node.name}.{node.name}")
        if "property" in kinds or any(kind.endswith("cached_property") for kind in kinds):
            return function(self)
        return function if "staticmethod" in kinds else function.__get__(self)

    def _made(self, name: str) -> Any:
        """What `__init__` would have given; AttributeError if it gives none."""
        classes, lineage, log = self.__dict__["_h"]
        if name == "pp_group":
            return GROUP
        if name == "layers" and isinstance(count := _layers(self.config), int):
            # Made by helpers that need kernels; a setter may count or mark them.
            self.__dict__[name] = [SimpleNamespace() for _ in range(count)]
            return self.__dict__[name]
        found = made_in_init(lineage, name)
        if found is None:
            raise AttributeError(name)
        place, value = found
        made = self._evaluated(classes, place, value, log)
        self.__dict__[name] = made
        return made

    def _evaluated(self, classes: Classes, place: ClassPlace, value: ast.expr, log: list[Any]) -> Any:
        if isinstance(value, ast.Constant):
            return value.value
        if isinstance(value, ast.List) and not value.elts:
            return []
        if isinstance(value, ast.Attribute) and _root(value) == "self":
            return getattr(self, value.attr) if isinstance(value.value, ast.Name) else getattr(self._evaluated(classes, place, value.value, log), value.attr)
        if isinstance(value, ast.Call):
            inner = self._class_of(classes, place, value)
            if inner is not None:
                return Built(classes, inner, _config_of(self, value), log)
        return Mute(f"{place.node.name}: {ast.unparse(value)[:80]}")

    def _class_of(self, classes: Classes, place: ClassPlace, call: ast.Call) -> ClassPlace | None:
        """The engine's class that a call makes; through one method of our own, too."""
        target = call.func
        if isinstance(target, ast.Name):
            # SGLang imports inner models inside `__init__`, to keep its modules apart.
            inside = classes.imported_in(place.node, place.path, target.id)
            found = inside or classes.find(place.path, target.id)
            return found or self._handed_down(classes, place, target.id)
        if isinstance(target, ast.Attribute) and _root(target) == "self":
            for holder in self.__dict__["_h"][1]:
                inner = None if holder.path.startswith("?") else method(holder, target.attr)
                for node in ast.walk(inner) if inner else ():
                    if isinstance(node, ast.Return) and isinstance(node.value, ast.Call):
                        return self._class_of(classes, holder, node.value)
        return None

    def _handed_down(self, classes: Classes, place: ClassPlace, name: str) -> ClassPlace | None:
        """A class that `__init__` takes as a parameter: from a subclass's call, or its default."""
        for holder in self.__dict__["_h"][1]:
            init = None if holder.path.startswith("?") else method(holder, "__init__")
            if init is None:
                continue
            given = _default(init, name) if holder == place else _passed_up(init, name)
            if isinstance(given, ast.Name):
                return classes.find(holder.path, given.id)
            if given is not None:
                return None
        return None


def _default(node: ast.FunctionDef, parameter: str) -> ast.expr | None:
    """The default of a parameter."""
    plain = [*node.args.posonlyargs, *node.args.args]
    pairs = list(zip(reversed(plain), reversed(node.args.defaults), strict=False))
    pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d]
    return next((value for arg, value in pairs if arg.arg == parameter), None)


def _undecorated(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function as a top-level statement; `super()` in it would ask for its class."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in {"super", "__class__"}:
            raise Undecidable(f"{node.name} calls super()")
    made = ast.FunctionDef(**{field: getattr(node, field, None) for field in node._fields})
    made.decorator_list = []
    return ast.copy_location(made, node)


def _layers(config: Any) -> Any:
    inner = getattr(config, "text_config", config)
    return getattr(inner, "num_hidden_layers", None)


def _passed_up(node: ast.FunctionDef, parameter: str) -> ast.expr | None:
    """What a method hands to `super().__init__` as `parameter`."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "super().__init__":
            for keyword in call.keywords:
                if keyword.arg == parameter:
                    return keyword.value
    return None


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _config_of(holder: Built, call: ast.Call) -> Any:
    """The config that a call hands on: what its argument says of ours, else our own."""
    values = [*call.args, *(k.value for k in call.keywords if k.arg == "config")]
    for value in values:
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        text = ast.unparse(value)
        if names and names <= {"config", "self", "hasattr", "getattr"} and "quant" not in text:
            space = {"config": holder.config, "self": holder}
            return eval(compile(ast.Expression(value), "<config>", "eval"), space)  # noqa: S307 - the engine's own expression, boxed
    return holder.config
