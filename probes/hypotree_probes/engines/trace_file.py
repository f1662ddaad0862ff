"""Write a trace of the engine's own forward, as a running engine would record it.

    python -m hypotree_probes.engines.trace_file --draft DIR --engine SPEC --width N -o trace.jsonl

The file is what `--trace` takes: head, one line a module call with its shapes, dtype and
statistics, and the end.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.errors import HypotreeError
from hypotree.probe import ProbeContext
from hypotree_probes.engines.asking import ask_about_draft, can_ask
from hypotree_probes.engines.forward_run import values_request
from hypotree_probes.engines.harness.client import HarnessError


def events(engine: Engine, draft: Checkpoint, width: int, device: str) -> Iterator[dict[str, Any]]:
    """The events of a forward on real weights, with states of `width`."""
    context = ProbeContext({}, {}, {"full": 1, "device": device})
    options, _ = values_request(context, draft, width)
    found = ask_about_draft(engine, draft, {"values": options}, seconds=600.0)
    if "stopped" in found:
        raise HarnessError("raised", f"the forward stops: {found['stopped']}")
    run = found["values"]
    yield {
        "event": "trace_start", "engine": engine.name, "engine_version": engine.version(),
        "draft": draft.locator, "hooks": run["hooks"],
    }  # fmt: skip
    yield from run["events"]
    yield {"event": "canary", "eager": len(run["events"]), "captured": 0}
    yield {"event": "trace_end", "calls": len(run["events"])}


def main(arguments: Sequence[str]) -> int:
    """Write the file; 3 if the engine gave no answer."""
    parser = argparse.ArgumentParser(prog="python -m hypotree_probes.engines.trace_file")
    parser.add_argument("--draft", required=True)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        engine, draft = Engine(given.engine), Checkpoint(given.draft)
        if not can_ask(engine):
            sys.stderr.write(f"the source of {given.engine} is not at hand\n")
            return 3
        lines = [json.dumps(e) for e in events(engine, draft, given.width, given.device)]
    except HarnessError as failure:
        sys.stderr.write(f"{given.engine} could not be run: {failure.why} {failure.where}\n")
        return 3
    except HypotreeError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    given.output.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
