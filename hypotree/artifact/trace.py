"""Forward traces: JSON lines of which module ran on which shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import msgspec

from hypotree.artifact.log import Log
from hypotree.errors import MalformedError

Shape = tuple[int, ...]


class TraceStart(msgspec.Struct, frozen=True, tag_field="event", tag="trace_start"):
    """The head: which engine, which draft, and the module paths that were hooked."""

    engine: str = ""
    engine_version: str = ""
    draft: str = ""
    hooks: tuple[str, ...] = ()


class ModuleCall(msgspec.Struct, frozen=True, tag_field="event", tag="module_call"):
    """One call of one hooked module; statistics where they were taken."""

    call: int
    phase: str
    module: str
    in_shapes: tuple[Shape, ...] = ()
    out_shapes: tuple[Shape, ...] = ()
    dtype: str = ""
    finite: bool | None = None


class TraceCanary(msgspec.Struct, frozen=True, tag_field="event", tag="canary"):
    """How many calls were eager, and how many fell into the capture of a CUDA graph.

    A replayed graph calls no hook: without an eager call the trace shows what was captured.
    """

    eager: int
    captured: int


class TraceEnd(msgspec.Struct, frozen=True, tag_field="event", tag="trace_end"):
    """The tail: without it the trace was cut off."""

    calls: int


@dataclass(frozen=True)
class TraceRecord:
    """A whole trace. `state` says whether it may speak of absence: only a complete one may."""

    start: TraceStart
    calls: tuple[ModuleCall, ...]
    lines: tuple[int, ...]
    """Line number of each call."""
    state: Literal["complete", "cut-off", "dead"]
    has_end: bool = True
    """Whether a trace_end stands there that counts the calls."""
    canary: TraceCanary | None = None

    def fired(self, module: str) -> tuple[int, ...]:
        """Indices of the calls of `module`, by whole path or by its last parts."""
        return tuple(
            i
            for i, call in enumerate(self.calls)
            if call.module == module or call.module.endswith(f".{module}")
        )

    def hooked(self, module: str) -> bool:
        """Whether a hook was set on `module`."""
        return any(path == module or path.endswith(f".{module}") for path in self.start.hooks)


_Event = TraceStart | ModuleCall | TraceCanary | TraceEnd
_DECODER: msgspec.json.Decoder[_Event] = msgspec.json.Decoder(_Event)


class Trace(Log):
    """One trace file."""

    kind: ClassVar[str] = "trace"

    def record(self) -> TraceRecord:
        """The whole trace; `MalformedError` names the first line that is none."""
        start: TraceStart | None = None
        end: TraceEnd | None = None
        canary: TraceCanary | None = None
        calls: list[ModuleCall] = []
        numbers: list[int] = []
        lines = self.lines()
        for number, line in lines:
            if not line.strip():
                continue
            try:
                event = self._event(number, line)
            except MalformedError:
                if self._is_torn() and next(lines, None) is None:
                    break  # the last line of a file that was cut off while it was written
                raise
            if isinstance(event, TraceStart):
                start = start or event
            elif isinstance(event, ModuleCall):
                calls.append(event)
                numbers.append(number)
            elif isinstance(event, TraceCanary):
                canary = event
            else:
                end = event
        if start is None:
            raise MalformedError(f"reading {self.locator} as a trace", "it has no trace_start line")
        complete = end is not None and end.calls == len(calls)
        state: Literal["complete", "cut-off", "dead"] = (
            "dead" if not calls else "complete" if complete else "cut-off"
        )
        return TraceRecord(start, tuple(calls), tuple(numbers), state, complete, canary)

    def _event(self, number: int, line: str) -> _Event:
        try:
            return _DECODER.decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise MalformedError(
                f"reading {self.locator} as a trace", f"line {number}: {error}"
            ) from error

    def _is_torn(self) -> bool:
        """Whether the file ends inside a line."""
        file = self.tree.open(self.name)
        return file.size > 0 and file.read(file.size - 1, 1) != b"\n"
