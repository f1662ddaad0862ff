"""The import hook: which module of the engine is loaded, played, or a stub.

Nothing here knows a version. A module that the engine's tree does not hold cannot be
imported; the model files run as they stand. Every other module is played: the names of
leaf layers are stand-ins wherever they are imported from, a few plain functions are cut out
of their source and run, and the rest are stubs.
"""

from __future__ import annotations
import __future__

import builtins
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Final

from hypotree_probes.engines.harness.slicing import cut
from hypotree_probes.engines.harness.stubs import stub

#: Packages that are always played by stubs: what the engines need of them is never run here.
FOREIGN: Final = frozenset({
    "transformers", "triton", "sgl_kernel", "einops", "flashinfer", "aiter", "deep_gemm",
    "huggingface_hub", "tqdm", "PIL", "compressed_tensors", "xgrammar", "timm", "torchvision",
    "cuda", "cutlass", "vllm_flash_attn", "sgl_kernel_npu", "quack", "apache_tvm_ffi",
})  # fmt: skip

Source = Callable[[str], bytes | None]


class EngineFiles:
    """The engine's files by module name, compiled under names that a tracer recognises."""

    def __init__(self, package: str, source: Source, has: Callable[[str], bool]) -> None:
        self.package = package
        self._source, self._has = source, has
        self._texts: dict[str, bytes | None] = {}
        self._there: dict[str, bool] = {}

    def path(self, module: str) -> str | None:
        """The file of a module, relative to the package folder; None if there is none."""
        inner = module.removeprefix(self.package).lstrip(".").replace(".", "/")
        names = (f"{inner}.py", f"{inner}/__init__.py") if inner else ("__init__.py",)
        return next((name for name in names if self.has(name)), None)

    def has(self, path: str) -> bool:
        """Whether there is such a file, or folder if the name ends with a slash; asked once."""
        if path not in self._there:
            self._there[path] = self._has(path)
        return self._there[path]

    def text(self, path: str) -> bytes | None:
        """The bytes of one file, asked for once."""
        if path not in self._texts:
            self._texts[path] = self._source(path)
        return self._texts[path]

    def is_folder(self, module: str) -> bool:
        """Whether a module is a package; a folder without `__init__.py` counts as one."""
        path = self.path(module)
        return path is None or path.endswith("__init__.py")

    def code(self, path: str) -> CodeType:
        """The compiled file, its annotations as text; `SyntaxError` names it."""
        flags = __future__.annotations.compiler_flag
        name = f"<engine>/{path}"
        code: CodeType = compile(self.text(path) or b"", name, "exec", flags, dont_inherit=True)
        return code


class EngineFinder(MetaPathFinder, Loader):
    """Serves `package`; everything else is Python's own business."""

    def __init__(
        self,
        files: EngineFiles,
        real: Callable[[str], bool],
        stand_ins: Callable[[], Mapping[str, Any]],
        sliced: frozenset[str],
    ) -> None:
        self.files = files
        self._real = real
        self._stand_ins = stand_ins
        self._sliced = sliced

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """A spec for what is ours, None for the rest."""
        del path, target
        if fullname.partition(".")[0] != self.files.package:
            return None
        found = self.files.path(fullname)
        if found is None and not self._is_namespace(fullname):
            return None
        return ModuleSpec(fullname, self, is_package=self.files.is_folder(fullname))

    def _is_namespace(self, fullname: str) -> bool:
        """Folders without `__init__.py` are many in SGLang; they hold nothing to be wrong about."""
        return fullname == self.files.package or self.files.has(_folder(self.files, fullname))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A played module, or an empty one to run the real file in."""
        name = spec.name
        path = self.files.path(name)
        if path is not None and self._real(name):
            return ModuleType(name)
        return _Played(name, lambda attribute: self._answer(path, attribute))

    def exec_module(self, module: ModuleType) -> None:
        """Run the real file; a played module has nothing to run."""
        if not isinstance(module, _Played):
            path = self.files.path(module.__name__)
            assert path is not None
            module.__dict__["__builtins__"] = engine_builtins()
            exec(self.files.code(path), module.__dict__)  # noqa: S102 - the engine's own file, boxed

    def _answer(self, path: str | None, attribute: str) -> Any:
        """A stand-in or a slice; KeyError if only a stub is left."""
        played = self._stand_ins()
        if attribute in played:
            return played[attribute]
        if path is None or attribute not in self._sliced:
            raise KeyError(attribute)
        return cut(self.files, path, attribute)


class _Played(ModuleType):
    """A module of stand-ins, slices of the real source, and stubs."""

    def __init__(self, name: str, answer: Callable[[str], Any]) -> None:
        super().__init__(name)
        self.__dict__["_answer"] = answer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        try:
            value = self._answer(name)
        except KeyError:
            value = stub(f"{self.__name__}.{name}")
        self.__dict__[name] = value
        return value


def _folder(files: EngineFiles, fullname: str) -> str:
    """How a parent is asked whether it holds a folder."""
    return fullname.removeprefix(files.package).lstrip(".").replace(".", "/") + "/"


def engine_builtins() -> dict[str, Any]:
    """The builtins of the engine's modules: only for them are foreign packages stubs."""
    return vars(builtins) | {"__import__": _import}


def _import(
    name: str, space: Any = None, local: Any = None, wanted: Any = (), level: int = 0
) -> Any:
    """`__import__`, with stubs for foreign packages; torch goes on importing its own triton."""
    if not level and name == "regex":
        # vLLM's `import regex as re`: what it asks of it here, the standard library can do.
        return re
    if level or name.partition(".")[0] not in FOREIGN:
        return builtins.__import__(name, space, local, wanted, level)
    return _Played(name if wanted else name.partition(".")[0], _nothing)


def _nothing(attribute: str) -> Any:
    raise KeyError(attribute)


def install(finder: EngineFinder) -> None:
    """Put the finder before all others, and forget what may have been imported under its name."""
    top = finder.files.package
    for name in [n for n in sys.modules if n.partition(".")[0] == top]:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)


def load(name: str) -> ModuleType:
    """Import one module by name."""
    return import_module(name)
