"""Which engine serves the drafter: installed ones nearby, and the one that a trace or log names."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hypotree.artifact.engine import ENGINES, Engine
from hypotree.artifact.files import DiskFile
from hypotree.diagnosis.places import Surroundings
from hypotree.errors import HypotreeError

_LOOKED_AT: Final = 256 * 1024
#: vLLM 0.33.0 prints its version at start; SGLang does not, but its decode lines are its own.
_VLLM_VERSION: Final = re.compile(r"vLLM (?:API server version|engine \(v)[ ]?v?(\d[\w.+]{0,32})")


@dataclass(frozen=True)
class EngineFound:
    """An engine spec, and how it was come by; `spec` is "" if several would do."""

    spec: str
    why: str


def find_engine(around: Surroundings, trace: Path | None, log: Path | None) -> EngineFound | None:
    """The engine that was running, as source if it is installed here; else the only one installed."""
    named = _named_by_trace(trace) or _named_by_log(log)
    installed = list(installed_engines(around))
    if named is not None:
        return _as_source(named, installed)
    if not installed:
        return None
    names = ", ".join(sorted({spec for spec, _ in installed}))
    if len({spec for spec, _ in installed}) > 1:
        return EngineFound("", f"several are installed ({names}): say which by --engine")
    return EngineFound(*installed[0])


def installed_engines(around: Surroundings) -> Iterator[tuple[str, str]]:
    """Engine specs in the active environment and in venvs near the drafter; nothing is imported."""
    for site, why in _sites(around):
        for name in ENGINES:
            if (site / name / "__init__.py").is_file():
                yield f"{name}:{site / name}", why


def _sites(around: Surroundings) -> Iterator[tuple[Path, str]]:
    for path in sys.path:
        if path.endswith(("site-packages", "dist-packages")):
            yield Path(path), "installed in this environment"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if prefix := os.environ.get(variable):
            yield from ((p, f"installed in {variable}") for p in _site_folders(Path(prefix)))
    for folder in (around.folder, *around.ancestors):
        for entry in around.entries(folder):
            if entry.is_dir() and (folder / entry.name / "pyvenv.cfg").is_file():
                venv = folder / entry.name
                yield from ((p, f"installed in {venv}") for p in _site_folders(venv))
        for name in (".venv", ".env"):
            yield from ((p, f"installed in {folder / name}") for p in _site_folders(folder / name))


def _site_folders(prefix: Path) -> list[Path]:
    return sorted(prefix.glob("lib/python3*/site-packages"))


def _as_source(named: EngineFound, installed: list[tuple[str, str]]) -> EngineFound:
    """The installed package of that name and version in place of the bare name."""
    name, _, version = named.spec.partition("@")
    for spec, why in installed:
        if spec.startswith(f"{name}:") and (not version or _version(spec) == version):
            return EngineFound(spec, f"{why}; {named.why}")
    return named if version else EngineFound("", f"{named.why}, without its version")


def _version(spec: str) -> str:
    try:
        return Engine(spec).version()
    except (HypotreeError, OSError):
        return ""


def _named_by_trace(trace: Path | None) -> EngineFound | None:
    start = trace_start(trace) if trace else {}
    name, version = start.get("engine"), start.get("engine_version")
    if name not in ENGINES or not isinstance(version, str):
        return None
    known = re.fullmatch(r"\d[\w.+!-]{0,32}", version)
    return EngineFound(f"{name}@{version}" if known else str(name), "the trace names it")


def trace_start(trace: Path) -> dict[str, object]:
    """The first line of a trace; empty if it is none."""
    try:
        file = DiskFile(trace)
        line = file.read(0, min(file.size, _LOOKED_AT)).split(b"\n", 1)[0]
        start = json.loads(line)
    except (HypotreeError, ValueError, RecursionError):
        return {}
    return start if isinstance(start, dict) else {}


def _named_by_log(log: Path | None) -> EngineFound | None:
    if log is None:
        return None
    text = log_head(log)
    if version := _VLLM_VERSION.search(text):
        return EngineFound(f"vllm@{version[1]}", "the log names it")
    if "SpecDecoding metrics:" in text:
        return EngineFound("vllm", "the log is vLLM's")
    return EngineFound("sglang", "the log is SGLang's") if "accept len:" in text else None


def log_head(log: Path) -> str:
    """The start of a log, where a server says what it serves."""
    try:
        file = DiskFile(log)
        return file.read(0, min(file.size, _LOOKED_AT)).decode("utf-8", "replace")
    except (HypotreeError, OSError):
        return ""
