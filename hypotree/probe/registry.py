"""Find probes by entry point: names, one, or all. Naming imports no probe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from hypotree.digest import Digest
from hypotree.errors import MisuseError, ToolError, UnknownNameError
from hypotree.probe.api import PROBE_GROUP, Probe
from hypotree.probe.entry_points import entry_points


@lru_cache(maxsize=1)
def declared() -> Mapping[str, str]:
    """Every probe's name and `module:Class`."""
    return entry_points(PROBE_GROUP)


#: Commands that an opened session declares; an installed probe's name is never theirs.
_COMMANDS: dict[str, type[Probe]] = {}


def register_command(probe: type[Probe]) -> None:
    """Make a session's command known by its name; `MisuseError` if an installed probe has it."""
    if probe.name in declared():
        raise MisuseError(
            f"declaring the probe {probe.name!r}",
            "an installed distribution has a probe of that name",
            "choose another name",
        )
    _COMMANDS[probe.name] = probe


def probe_class(name: str) -> type[Probe]:
    """The class of one probe; imports its module and no other probe's."""
    target = declared().get(name)
    if target is None and name in _COMMANDS:
        return _COMMANDS[name]
    if target is None:
        raise UnknownNameError(
            f"finding probe {name!r}",
            "no installed distribution declares it",
            f"there are {', '.join(sorted(declared())) or 'none: is hypotree installed?'}",
        )
    module, _, attribute = target.partition(":")
    try:
        loaded = getattr(import_module(module), attribute)
    except Exception as error:
        raise ToolError(
            f"loading probe {name!r} from {target}", f"{type(error).__name__}: {error}"
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Probe)):
        raise ToolError(f"loading probe {name!r} from {target}", "it is not a Probe class")
    return loaded


def all_probes() -> tuple[dict[str, type[Probe]], dict[str, str]]:
    """Every probe that loads, and for each that does not, why: a broken one costs only itself."""
    loaded: dict[str, type[Probe]] = {}
    broken: dict[str, str] = {}
    for name in sorted(declared()):
        try:
            loaded[name] = probe_class(name)
        except ToolError as error:
            broken[name] = error.found
    return loaded, broken


def probe_for(fault: str) -> type[Probe]:
    """The probe that decides a fault code; `UnknownNameError` if none does."""
    for probe in all_probes()[0].values():
        if probe.fault(fault):
            return probe
    raise UnknownNameError(f"finding a probe for {fault!r}", "no probe decides that fault code")


def code_digest(probe: type[Probe]) -> Digest:
    """The digest of the probe's code: every source and data file of its top-level package.

    Wider than the probe itself on purpose: a helper that changed may change the verdict.
    """
    own = getattr(probe, "own_digest", None)
    if own is not None:
        digest: Digest = own()
        return digest
    return _package_digest(probe.__module__.partition(".")[0])


@lru_cache(maxsize=16)
def _package_digest(top: str) -> Digest:
    origin = getattr(sys.modules[top], "__file__", None)
    if origin is None:
        raise ToolError(f"digesting the code of {top}", "it has no files")
    path = Path(origin)
    files = sorted(_source_files(path.parent)) if path.name == "__init__.py" else [path]
    parts: list[bytes] = []
    for file in files:
        parts += [file.name.encode(), file.read_bytes()]
    return Digest.of_parts(*parts)


def _source_files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in names:
            if name.endswith((".py", ".yaml", ".json", ".so")):
                yield Path(root, name)
