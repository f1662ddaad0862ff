"""Hooks in a running engine: which drafter modules fire, on which shapes, as trace JSONL.

SGLang (0.5.6 and later) calls `hook(config)` for every entry of `--forward-hooks`, as
`hypotree trace spec sglang` prints them (model_executor/hook_manager.py 0.5.23); vLLM's
`LLM.apply_model` takes `attach`. Every rank writes its own file, bounded; a failure of ours
never reaches the engine.

Under CUDA graphs hooks fire while a graph is captured and never when it is replayed. So what
fires during a capture is written as such, without touching a value, and the canary line says
how many calls were eager: if none, the trace shows what was captured and not what was served.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final

_LIMIT: Final = 4000
#: SGLang's names of forward modes, and ours (DESIGN.md section 6).
_PHASES: Final = {
    "DRAFT_EXTEND": "draft_extend", "DRAFT_EXTEND_V2": "draft_extend", "EXTEND": "draft_extend",
    "DECODE": "draft_decode", "TARGET_VERIFY": "target_verify",
}  # fmt: skip
#: The module whose own call ends a forward and knows its batch.
_WHOLE: Final = "model"

Hook = Callable[[Any, Any, Any], None]


class Writer:
    """One rank's trace file."""

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self._file: IO[str] = path.open("w", encoding="utf-8")
        self._lock = threading.Lock()
        self._waiting: list[dict[str, Any]] = []
        self._calls = self._captured = self._eager = 0
        self._is_open = True
        self._write({"event": "trace_start", **head})
        atexit.register(self.close)

    def call(self, event: dict[str, Any], *, is_captured: bool) -> None:
        """Hold one call back until its forward's phase is known."""
        with self._lock:
            if self._is_open:
                self._captured += is_captured
                self._eager += not is_captured
                self._waiting.append(event)

    def end_forward(self, phase: str) -> None:
        """Write what was held back, with the phase that the whole model's batch tells."""
        with self._lock:
            for event in self._waiting:
                if self._is_open:
                    self._write({**event, "call": self._calls, "phase": phase})
                    self._calls += 1
            self._waiting.clear()
            full = self._calls >= _LIMIT
        if full:
            self.close()

    def close(self) -> None:
        """Write the canary's count and the end."""
        with self._lock:
            if not self._is_open:
                return
            self._is_open = False
            for event in self._waiting:
                self._write({**event, "call": self._calls, "phase": "unknown"})
                self._calls += 1
            self._write({"event": "canary", "eager": self._eager, "captured": self._captured})
            self._write({"event": "trace_end", "calls": self._calls})
            self._file.close()

    def _write(self, event: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(event) + "\n")
        self._file.flush()


_WRITERS: dict[str, Writer] = {}


def hook(config: Mapping[str, Any]) -> Hook | None:
    """SGLang's hook factory: one module's hook, by the path that the spec names."""
    module = str(config.get("module", ""))
    writer = _writer(config)
    return None if writer is None else _hook(writer, module)


def attach(model: Any, path: str = "trace.jsonl") -> int:
    """Hook every module of a model (vLLM's `apply_model` calls this on each rank)."""
    names = [name for name, _ in model.named_modules() if name]
    writer = _writer({"path": path, "engine": "vllm", "hooks": names})
    for name, module in model.named_modules():
        if writer is not None and name:
            module.register_forward_hook(_hook(writer, name))
    return len(names)


def _writer(config: Mapping[str, Any]) -> Writer | None:
    """The rank's writer; None if its file cannot be written, which is said and ends nothing."""
    base = Path(str(config.get("path", "trace.jsonl")))
    # A target and a draft worker share a process, and one file.
    path = base.with_name(f"{base.stem}.rank{_rank()}{base.suffix}")
    if str(path) not in _WRITERS:
        head = {
            "engine": str(config.get("engine", "sglang")), "engine_version": _version(config),
            "draft": str(config.get("draft", "")), "hooks": list(config.get("hooks", ())),
            "rank": _rank(),
        }  # fmt: skip
        try:
            _WRITERS[str(path)] = Writer(path, head)
        except OSError as error:
            _log(f"hypotree: no trace: {error}")
            return None
    return _WRITERS[str(path)]


def _hook(writer: Writer, module: str) -> Hook:
    def note(owner: Any, args: Any, output: Any) -> None:
        try:
            event = {
                "event": "module_call", "module": module, "class": type(owner).__name__,
                "in_shapes": _shapes(args), "out_shapes": _shapes(output), **_about(output),
            }  # fmt: skip
            is_captured = _is_capturing()
            writer.call(
                event | ({"captured": True} if is_captured else {}), is_captured=is_captured
            )
            if module == _WHOLE:
                writer.end_forward(_phase(args))
        except Exception as error:  # noqa: BLE001 - a hook must never stop the engine
            _log(f"hypotree: a hook failed: {error}")

    return note


def _phase(args: Any) -> str:
    for value in args if isinstance(args, tuple) else ():
        mode = getattr(value, "forward_mode", None)
        if mode is not None:
            name = str(getattr(mode, "name", mode))
            return _PHASES.get(name, name.lower())
    return "unknown"


def _shapes(value: Any) -> list[list[int]]:
    """Shapes only: reading a value would wait for the GPU, or break a capture."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    return [[int(n) for n in item.shape] for item in items if hasattr(item, "shape")][:8]


def _about(value: Any) -> dict[str, str]:
    items = value if isinstance(value, (tuple, list)) else (value,)
    first = next((item for item in items if hasattr(item, "dtype")), None)
    if first is None:
        return {}
    return {"dtype": str(first.dtype).removeprefix("torch."), "device": str(first.device)}


def _is_capturing() -> bool:
    import torch

    return bool(torch.cuda.is_available() and torch.cuda.is_current_stream_capturing())


def _rank() -> int:
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return int(torch.distributed.get_rank())
    return int(os.environ.get("RANK", "0"))


def _version(config: Mapping[str, Any]) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(str(config.get("engine", "sglang")))
    except PackageNotFoundError:
        return ""


def _log(text: str) -> None:
    import logging

    logging.getLogger("hypotree").warning(text)
