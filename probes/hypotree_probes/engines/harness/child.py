"""The process in which the engine's code runs: boxed first, then asked.

stdin and a copy of stdout carry frames; whatever the engine prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from hypotree.sandbox import Box, enter
from hypotree_probes.engines.harness.stubs import TOUCHED, Undecidable
from hypotree_probes.engines.harness.wire import receive, send

_MAX_BODY = 1 << 40


class Parent:
    """Our side of the pipe: files and tensors on demand."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink

    def has(self, path: str) -> bool:
        """Whether the engine's tree holds a file, or a folder if the name ends with a slash."""
        return bool(self._ask({"ask": "has", "path": path})[0]["found"])

    def file(self, path: str) -> bytes | None:
        """One file of the engine, None if its tree has none."""
        head, body = self._ask({"ask": "file", "path": path})
        return bytes(body) if head["found"] else None

    def tensor(self, name: str) -> bytearray:
        """The bytes of one tensor of the checkpoint."""
        return self._ask({"ask": "tensor", "name": name})[1]

    def answer(self, result: dict[str, Any]) -> None:
        """The last frame."""
        send(self._sink, {"ask": "done", "result": result})

    def _ask(self, head: dict[str, Any]) -> tuple[dict[str, Any], bytearray]:
        send(self._sink, head)
        return receive(self._source, max_body=_MAX_BODY)


def main() -> None:
    """Read the request, lock this process in, run the tasks, answer."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    source = sys.stdin.buffer
    request, _ = receive(source, max_body=0)
    sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - for good; the engine has no input
    parent = Parent(source, sink)
    box = Box(Path(request["scratch"]), request["memory"], request["cpu_seconds"],
              tuple(Path(device) for device in request.get("devices", ())))  # fmt: skip
    guard = enter(box)
    result: dict[str, Any] = {"guard": str(guard)}
    try:
        from hypotree_probes.engines.harness.tasks import run_tasks

        result |= run_tasks(request, parent)
    except Undecidable as refused:
        result["failure"] = {"kind": "undecidable", "why": str(refused), "where": _where(refused)}
    except BaseException as error:  # noqa: BLE001 - the engine may raise anything, SystemExit too
        why = f"{type(error).__name__}: {error}"[:1000]
        result["failure"] = {"kind": _kind(error), "why": why, "where": _where(error)}
    result["stubs"] = list(TOUCHED)[:200]
    parent.answer(json.loads(json.dumps(result, default=str)))


def _kind(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return "syntax"
    if isinstance(error, ModuleNotFoundError):
        return "missing-module"
    # What the box denies comes as one of these.
    if isinstance(error, PermissionError):
        return "denied"
    return "memory" if isinstance(error, MemoryError) else "raised"


def _where(error: BaseException) -> str:
    """The innermost line of the engine's."""
    if isinstance(error, SyntaxError) and (error.filename or "").startswith("<engine>/"):
        return f"{(error.filename or '').removeprefix('<engine>/')}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f.filename.startswith("<engine>/")]
    return f"{ours[-1].filename.removeprefix('<engine>/')}:{ours[-1].lineno}" if ours else ""


if __name__ == "__main__":
    main()
