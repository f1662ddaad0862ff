"""hypotree trace spec | show."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click

from hypotree.artifact.plain import plain
from hypotree.artifact.trace import ModuleCall, Trace
from hypotree.cli.echo import out, out_json, table, talk
from hypotree.cli.options import json_option

#: Modules of a drafter, by every name that SGLang has had for them. `model` comes last in a
#: forward and knows its batch, so that the others' phase is known.
_MODULES = (
    "model.embed_tokens", "model.fc", "model.midlayer", "model.midlayer.hidden_norm",
    "model.layers.0.hidden_norm", "model.norm", "model",
)  # fmt: skip
_FACTORY = "hypotree_probes.engines.live:hook"


@click.group()
def trace() -> None:
    """Print hook specs for a running engine; show a recorded trace."""


@trace.command("spec")
@click.argument("engine", type=click.Choice(["sglang", "vllm"]))
@click.option("-o", "--output", default="trace.jsonl", show_default=True, help="Where to write.")
def spec(engine: str, output: str) -> None:
    """What to hand to the engine so that it records a trace.

    sglang: the value of --forward-hooks. vllm: the call to make in its process.
    """
    path = str(Path(output).absolute())
    if engine == "vllm":
        out("from hypotree_probes.engines.live import attach")
        out(f"llm.apply_model(lambda model: attach(model, {path!r}))")
        talk("hypotree: serve with VLLM_ALLOW_INSECURE_SERIALIZATION=1 and --enforce-eager")
        return
    shared = {"path": path, "engine": engine, "hooks": list(_MODULES)}
    specs = [
        {
            "name": f"hypotree {module}",
            "target_modules": [module],
            "hook_factory": _FACTORY,
            "config": {"module": module, **shared},
        }
        for module in _MODULES
    ]
    out(json.dumps(specs))
    talk(
        'hypotree: python -m sglang.launch_server ... --forward-hooks "$(hypotree trace spec sglang)"'
    )
    talk("hypotree: add --disable-cuda-graph: a replayed graph calls no hook")


@trace.command("show")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@json_option
def show(file: str, as_json: bool) -> None:
    """Which modules fired in which phase, how often, on which shapes."""
    record = Trace(file).record()
    calls = Counter((call.phase, call.module, _shapes(call)) for call in record.calls)
    silent = [name for name in record.start.hooks if not record.fired(name)]
    if as_json:
        out_json({
            "state": record.state, "calls": len(record.calls), "silent": silent,
            "fired": [[*key, count] for key, count in calls.items()],
        })  # fmt: skip
        return
    engine = f"{record.start.engine} {record.start.engine_version}".strip()
    out(f"{plain(file)}: {plain(engine)}, {record.state}, {len(record.calls)} calls")
    if record.canary is not None:
        said = f"{record.canary.eager} eager, {record.canary.captured} while a graph was captured"
        out(f"hooks fired: {said}")
        if record.canary.captured and not record.canary.eager:
            out("no eager call: this shows what was captured, not what graph replay served")
    rows: list[tuple[str, ...]] = [
        (plain(phase), plain(module), shapes, str(count))
        for (phase, module, shapes), count in calls.items()
    ]
    for line in table(("phase", "module", "in -> out", "calls"), rows) if rows else ():
        out(line)
    if silent:
        out(f"hooked and silent: {', '.join(map(plain, silent))}")


def _shapes(call: ModuleCall) -> str:
    def text(shapes: tuple[tuple[int, ...], ...]) -> str:
        return " ".join("x".join(map(str, shape)) for shape in shapes)

    return f"{text(call.in_shapes)} -> {text(call.out_shapes)}"
