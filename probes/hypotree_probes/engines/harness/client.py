"""Our side of the harness: start the process, serve it files and tensors, take its answer.

Whatever happens in there (a crash, a kill, silence, nonsense on the pipe) ends as a
`HarnessError` within the time limit, and its whole process group is gone then.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from hypotree_probes.engines.harness.wire import WireError, receive, send

_MEMORY: Final = 6 << 30
_MAX_QUESTIONS: Final = 20_000


class HarnessError(Exception):
    """The harness gave no answer; `kind` says how it ended, `where` a line of the engine's."""

    def __init__(self, kind: str, why: str, where: str = "") -> None:
        super().__init__(why)
        self.kind, self.why, self.where = kind, why, where


@dataclass
class Provider:
    """What the process may ask for."""

    has: Callable[[str], bool]
    file: Callable[[str], bytes | None]
    tensor: Callable[[str], bytes] = field(default=lambda _: b"")


def ask(
    request: dict[str, Any], provider: Provider, *, seconds: float, memory: int = _MEMORY
) -> dict[str, Any]:
    """Run the request's tasks in a boxed process; `HarnessError` if there is no answer."""
    with tempfile.TemporaryDirectory(prefix="hypotree-harness-") as scratch:
        limits = {"scratch": scratch, "memory": memory, "cpu_seconds": int(seconds) + 1}
        process = _start(scratch)
        overdue = threading.Event()
        timer = threading.Timer(seconds, _stop, (process, overdue))
        timer.start()
        try:
            return _converse(process, request | limits, provider)
        except (EOFError, BrokenPipeError, WireError) as error:
            raise _ended(process, overdue, error, seconds) from error
        finally:
            timer.cancel()
            _stop(process, None)


def _start(scratch: str) -> subprocess.Popen[bytes]:
    """A session of its own, so that all of it can be ended; no secrets in its environment."""
    paths = os.pathsep.join(p for p in sys.path if p)
    environment = {
        "PATH": os.defpath, "PYTHONPATH": paths, "HOME": scratch, "TMPDIR": scratch,
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "TORCHDYNAMO_DISABLE": "1",
        "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": scratch,
    }  # fmt: skip
    errors = (Path(scratch) / "stderr").open("wb")
    with errors:
        return subprocess.Popen(
            [sys.executable, "-m", "hypotree_probes.engines.harness.child"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment,
            start_new_session=True, cwd=scratch,
        )  # fmt: skip


def _converse(
    process: subprocess.Popen[bytes], request: dict[str, Any], provider: Provider
) -> dict[str, Any]:
    sink, source = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
    send(sink, request)
    for _ in range(_MAX_QUESTIONS):
        head, _body = receive(source, max_body=0)
        if head.get("ask") == "done":
            return _answer(head.get("result"))
        if head.get("ask") == "has":
            send(sink, {"found": provider.has(str(head.get("path")))})
        elif head.get("ask") == "file":
            data = provider.file(str(head.get("path")))
            send(sink, {"found": data is not None}, data or b"")
        elif head.get("ask") == "tensor":
            send(sink, {"found": True}, provider.tensor(str(head.get("name"))))
        else:
            raise WireError(f"an unknown question {str(head)[:200]}")
    raise WireError(f"more than {_MAX_QUESTIONS} questions")


def _answer(result: object) -> dict[str, Any]:
    if not isinstance(result, dict):
        raise WireError("an answer that is no object")
    failure = result.get("failure")
    if isinstance(failure, dict):
        parts = (str(failure.get(key, "")) for key in ("kind", "why", "where"))
        raise HarnessError(*parts)
    return result


def _ended(
    process: subprocess.Popen[bytes], overdue: threading.Event, error: Exception, seconds: float
) -> HarnessError:
    if overdue.is_set():
        return HarnessError("time-out", f"no answer within {seconds:.0f} seconds")
    if isinstance(error, WireError):
        return HarnessError("nonsense", f"the engine's process answered with {error}")
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    code = process.returncode
    how = f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
    return HarnessError("ended", f"the engine's process ended {how}, without an answer")


def _stop(process: subprocess.Popen[bytes], overdue: threading.Event | None) -> None:
    if overdue is not None:
        overdue.set()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if overdue is None:
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
