"""An instance of a target class without its `__init__`: attributes are made when asked for."""

from __future__ import annotations

import ast
import copy
from types import SimpleNamespace
from typing import Any

from hypotree_probes.engines.harness.classes import (
    SETTER,
    Classes,
    ClassPlace,
    made_in_init,
    method,
)
from hypotree_probes.engines.harness.ranks import GROUP
from hypotree_probes.engines.harness.slicing import module_of, run_slice
from hypotree_probes.engines.harness.stubs import Mute, Undecidable


class Built:
    """Runs the class's own methods on attributes that its `__init__` would have made."""

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
        function = run_slice(
            module, place.path, [plain.name], module_of(classes.files, place.path)
        )[plain.name]
        function.__code__ = function.__code__.replace(
            co_filename=name, co_qualname=f"{place.node.name}.{node.name}"
        )
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

    def _evaluated(
        self, classes: Classes, place: ClassPlace, value: ast.expr, log: list[Any]
    ) -> Any:
        if isinstance(value, ast.Constant):
            return value.value
        if isinstance(value, ast.List) and not value.elts:
            return []
        if isinstance(value, ast.Attribute) and _root(value) == "self":
            return (
                getattr(self, value.attr)
                if isinstance(value.value, ast.Name)
                else getattr(self._evaluated(classes, place, value.value, log), value.attr)
            )
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
    made = copy.copy(node)
    made.decorator_list = []
    return made


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
