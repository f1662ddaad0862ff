"""Run the engine's forward for forward-trace and for trace files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.model.evidence import Table
from hypotree.probe import ProbeContext
from hypotree_probes.engines.asking import ask_about_draft, can_ask, flat_config, show_run
from hypotree_probes.engines.capturing import Capture, capture
from hypotree_probes.engines.harness.client import HarnessError

#: Up to here in float32; larger drafts in the file's own dtype.
_SMALL: Final = 256 << 20
#: Beyond this a forward on real weights is asked for by `--param full=1`.
_LARGE: Final = 1 << 30
_ROWS: Final = 24
_ROWS_OF_TABLE: Final = 1024


@dataclass(frozen=True)
class Forward:
    """What was run, and with what."""

    engine: str
    takes: int
    """The width that fc takes; 0 if there is no fc."""
    handed: int | None
    """The width that the engine hands over, None if that is not known."""
    handed_why: str
    widths: Mapping[int, Mapping[str, Any]]
    values: Mapping[str, Any] | None
    not_valued: str
    """Why no forward was run on real weights."""
    result: Mapping[str, Any] = field(default_factory=dict)


def run_forward(context: ProbeContext) -> Forward:
    """Both widths on the meta device, and the real weights at the width of training."""
    draft, engine = context.need("draft", Checkpoint), context.need("engine", Engine)
    if not can_ask(engine):
        why = f"the source of {engine.locator} is not at hand; give {engine.name}:PATH"
        raise HarnessError("no-source", why)
    layout = draft.layout("fc.weight")
    hidden = _hidden(draft)
    takes = layout.shape[1] if layout and len(layout.shape) == 2 else 0
    handed, why = _handed(context, takes, hidden)
    widths = sorted({w for w in (takes, handed, hidden) if w}, reverse=True)
    options, not_valued = values_request(context, draft, takes or hidden)
    tasks: dict[str, Any] = {"widths": widths}
    if options:
        tasks["values"] = options
    found = ask_about_draft(engine, draft, tasks, seconds=600.0, memory=_memory(draft))
    show_run(context, engine, found)
    forward = Forward(
        f"{engine.name} {engine.version()}".strip(), takes, handed, why,
        {entry["width"]: entry for entry in found["widths"]}, found.get("values"),
        f"the forward stops: {found['stopped']}" if "stopped" in found else not_valued, found,
    )  # fmt: skip
    _show(context, forward)
    return forward


def _hidden(draft: Checkpoint) -> int:
    value = flat_config(draft.config())[0].get("hidden_size")
    return value if isinstance(value, int) else 0


def _handed(context: ProbeContext, takes: int, hidden: int) -> tuple[int | None, str]:
    """By the user's word, by the engine's own capture, else not known."""
    said = context.params.get("handed")
    if isinstance(said, int):
        return said, "by --param handed"
    target = context.get("target", Checkpoint)
    if target is None:
        return None, "without --target it is not known what is handed over"
    found = capture(context)
    if not isinstance(found, Capture):
        return None, found.why
    if found.outcome != "set" or not found.layers:
        return hidden, f"{found.target_class} of {found.engine} captures nothing ({found.outcome})"
    parts = len(found.layers)
    width = _target_width(target) or (takes // 3 or hidden)
    return parts * width, f"{parts} layers of {width} by {found.target_class} of {found.engine}"


def _target_width(target: Checkpoint) -> int | None:
    config = target.config()
    places: list[object] = [config, *(config.get(k) for k in ("text_config", "llm_config"))]
    found = [p.get("hidden_size") for p in places if isinstance(p, dict)]
    return next((value for value in found if isinstance(value, int)), None)


def values_request(
    context: ProbeContext, draft: Checkpoint, width: int
) -> tuple[dict[str, Any], str]:
    """The task of a forward on real weights, or why there is none."""
    layouts = draft.layouts()
    size = sum(at.end - at.begin for at in layouts.values())
    if size > _LARGE and not context.params.get("full"):
        return {}, f"the draft has {size / 2**30:.1f} GiB: give --param full=1"
    config = flat_config(draft.config())[0]
    dtype = "float32" if size <= _SMALL else "bfloat16"
    # The target's embeddings are not in the file: a few random rows stand for them.
    rows = _ROWS_OF_TABLE if size > _LARGE and not _has_table(layouts) else 0
    wanted = {n: [at.dtype, list(at.shape)] for n, at in layouts.items()}
    return {
        "device": str(context.params.get("device") or "cpu"), "dtype": dtype, "width": width,
        "vocabulary": rows or config.get("vocab_size", 2), "hidden": config.get("hidden_size", 0),
        "compare": size <= _LARGE, "tensors": wanted, "rows": rows,
    }, ""  # fmt: skip


def _has_table(layouts: Mapping[str, Any]) -> bool:
    return any(name.endswith("embed_tokens.weight") for name in layouts)


def _memory(draft: Checkpoint) -> int:
    size = sum(at.end - at.begin for at in draft.layouts().values())
    # The frame, the tensor, the engine's copy, and the reference's in float32.
    return (4 << 30) + 8 * size


def _show(context: ProbeContext, forward: Forward) -> None:
    rows = []
    for width, entry in forward.widths.items():
        fired = [call["module"] for call in entry["events"]]
        silent = [path for path in entry["hooks"] if path not in fired]
        fc = "fires" if any(is_fc(path) for path in fired) else "does not fire"
        rows.append((width, len(fired), fc, ", ".join(silent[:4]), entry.get("raised", "")))
    columns = ("width", "calls", "fc", "silent", "raised")
    context.show(Table("Forward on the meta device", columns, tuple(rows)))
    if forward.values is None:
        return
    context.measure("forward-seconds", forward.values["seconds"])
    context.measure("peak-memory", forward.values["peak_memory"])
    calls = [
        (c["module"], str(c["in_shapes"][:2]), str(c["out_shapes"][:1]), c.get("mean"),
         c.get("std"), c.get("absmax"), c.get("finite"))
        for c in forward.values["events"][:_ROWS]
    ]  # fmt: skip
    titles = ("module", "in", "out", "mean", "std", "absmax", "finite")
    context.show(Table("Forward on the real weights", titles, tuple(calls)))


def is_fc(path: str) -> bool:
    """Whether a module path is the fusion layer's."""
    return path == "fc" or path.endswith(".fc")
