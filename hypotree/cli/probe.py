"""hypotree probe list | show | run."""

from __future__ import annotations

from pathlib import Path

import click

from hypotree.cli.echo import out, out_json, talk, wrapped
from hypotree.cli.evidence_text import exit_code, print_evidence
from hypotree.cli.options import actor, json_option
from hypotree.errors import MisuseError
from hypotree.model.declaration import SYMPTOM
from hypotree.model.evidence import Evidence
from hypotree.model.verdict import Role
from hypotree.probe.registry import all_probes, probe_class
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe


@click.group()
def probe() -> None:
    """List, show and run probes."""


@probe.command("list")
@json_option
def list_probes(as_json: bool) -> None:
    """Every probe, with the fault codes that it decides."""
    loaded, broken = all_probes()
    if as_json:
        out_json({name: [fault.code for fault in p.decides] for name, p in loaded.items()})
    else:
        for name, found in loaded.items():
            out(f"{name:<16} {found.title}")
            out(f"{'':<16} {wrapped(', '.join(f.code for f in found.decides), 17)}")
    for name, why in broken.items():
        talk(f"hypotree: probe {name} cannot be loaded: {why}")


@probe.command("show")
@click.argument("name")
@json_option
def show_probe(name: str, as_json: bool) -> None:
    """What one probe takes and decides, and the cases that it is put to."""
    found = probe_class(name)
    if as_json:
        out_json({
            "name": found.name, "title": found.title, "version": found.version,
            "takes": [[t.name, t.kind, t.role, t.is_required, t.about] for t in found.takes],
            "decides": [[f.code, f.claim, f.fix] for f in found.decides],
            "cases": [[c.fault, c.report] for c in found().cases()],
        })  # fmt: skip
        return
    out(f"{found.name}, version {found.version}: {found.title}\n")
    for taken in found.takes:
        need = "required" if taken.is_required else "optional"
        out(f"  takes    {taken.name:<8} {taken.kind}, {taken.role}, {need}: {taken.about}")
    out()
    for fault in found.decides:
        out(f"  decides  {fault.code:<30} {wrapped(fault.claim, 42)}")
        out(f"  {'':<39} fix: {fault.fix}")
    out()
    for case in found().cases():
        report = f" ({case.report})" if case.report else ""
        out(f"  case     {case.fault}: planted fault and healthy twin{report}")


@probe.command("run")
@click.argument("names", nargs=-1, required=True, metavar="NAME | NODE…")
@click.option("--session", metavar="DIR", help="Run the probes bound to these nodes of a session.")
@click.option("--draft", metavar="PATH", help="The draft checkpoint: folder or file.")
@click.option("--vocab-map", "--truth", "truth", metavar="PATH", help="The map that training used.")
@click.option("--truth-form", type=click.Choice(["offsets", "absolute"]), help="Form of that map.")
@click.option("--engine", metavar="SPEC", help="sglang@VERSION, sglang:PATH, vllm@VERSION, …")
@click.option("--target", metavar="PATH", help="The target checkpoint (its config is enough).")
@click.option("--train-config", "train", metavar="PATH", help="The config that training used.")
@click.option("--log", metavar="PATH", help="A server log.")
@click.option("--trace", metavar="PATH", help="A recorded forward trace.")
@click.option("--hidden-states", "sample", metavar="PATH", help="A recorded sample.")
@click.option("--input", "more", multiple=True, metavar="NAME=PATH", help="Any other input.")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="A probe's parameter.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Give up after this long.")
@click.option("--all", "everything", is_flag=True, help="Show codes that were not run, too.")
@json_option
def run_probes(
    names: tuple[str, ...],
    session: str | None,
    params: tuple[str, ...],
    more: tuple[str, ...],
    time_limit: float | None,
    truth_form: str | None,
    everything: bool,
    as_json: bool,
    **given: str | None,
) -> int:
    """Run a probe on files (NAME), or the probes of nodes in a session (NODE…).

    The node `symptom` measures the symptom.
    """
    given |= _pairs(more, "--input")
    if session is not None:
        if any(given.values()):
            raise MisuseError(
                "running probes of a session",
                "files were given as well",
                "attach them to the session",
            )
        results = _run_nodes(Path(session), names)
    elif len(names) > 1:
        raise MisuseError(
            "running a probe", f"{len(names)} names were given", "one without --session"
        )
    else:
        inputs = _inputs(names[0], given, truth_form or "")
        results = [run_probe(ProbeRun(names[0], inputs, _params(params), None, time_limit))]
    for evidence in results:
        if as_json:
            out_json(evidence)
        else:
            print_evidence(evidence, everything=everything)
    return _worst([exit_code(evidence) for evidence in results])


def _run_nodes(folder: Path, nodes: tuple[str, ...]) -> list[Evidence]:
    from hypotree.session import Session

    opened = Session(folder, actor())
    results: list[Evidence] = []
    for node in nodes:
        results += opened.measure() if node == SYMPTOM else [opened.run(node)]
    return results


def _inputs(name: str, given: dict[str, str | None], form: str) -> tuple[BoundInput, ...]:
    taken = {t.name: t for t in probe_class(name).takes}
    unknown = [key for key, value in given.items() if value and key not in taken]
    if unknown:
        raise MisuseError(
            f"running {name}", f"it takes no {unknown[0]}", f"hypotree probe show {name}"
        )
    return tuple(
        BoundInput(key, taken[key].kind, taken[key].role, value,
                   form if taken[key].role is Role.TRUTH and key == "truth" else "")
        for key, value in given.items()
        if value
    )  # fmt: skip


def _params(pairs: tuple[str, ...]) -> dict[str, str | int | float | bool | None]:
    return {
        key: int(value) if value.lstrip("-").isdigit() else value
        for key, value in _pairs(pairs, "--param").items()
    }


def _pairs(pairs: tuple[str, ...], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise MisuseError(f"reading {option} {pair}", "it has no =", f"{option} name=value")
        found[key] = value
    return found


def _worst(codes: list[int]) -> int:
    """1 before 3 before 0: a confirmed fault is said whatever else stays open."""
    return next((code for code in (1, 3) if code in codes), 0)
