"""No way in records a verdict: every surface is walked. DESIGN rule 1."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import importlib
import inspect
import pkgutil
import re
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
import pytest

import hypotree
import hypotree.session
from hypotree.cli.main import COMMANDS, cli
from hypotree.gate import GateFacts, Permit
from hypotree.model.evidence import Evidence, Finding
from hypotree.model.fix import StagedFinding
from hypotree.model.refusal import Refusal
from hypotree.model.verdict import Authority, Verdict
from hypotree.session import Session
from hypotree.session.core import SessionCore
from hypotree.session.yaml_file import _File
from hypotree.tree.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(hypotree.__file__).parent
WORDS = re.compile(
    r"verdict|status|standing|success|outcome|authority|finding|evidence|confirm|refut|"
    r"passed|healthy|solved|resolved|conclusion|decision|result"
)
TYPES = (Verdict, Authority, Finding, Evidence, Standing, StagedFinding, Refusal, Permit, GateFacts)

#: Functions that take such a value to read it. None of them journals what it is given.
READERS = {
    "hypotree.session.asking.ask_again": "asks the gate again; approval is read from the journal",
    "hypotree.session.core.SessionCore.append": "the journal's door: who may make which event is tested below",
    "hypotree.session.probing.changes_since": "compares what evidence read with what is there",
    "hypotree.session.probing.is_fresh": "whether evidence still speaks for a node",
    "hypotree.session.probing.rebound": "binds again what evidence was run on",
    "hypotree.session.core.bound_kind": "which kind a binding takes, from the folded declarations",
    "hypotree.session.next_step.next_step": "words for people, from views of nodes",
}


# -- the command line -------------------------------------------------------------------------


def leaves() -> dict[str, click.Command]:
    """Every command by its words."""
    found: dict[str, click.Command] = {}

    def walk(words: list[str], command: click.Command) -> None:
        if isinstance(command, click.Group):
            with click.Context(command) as context:
                for name in command.list_commands(context):
                    inner = command.get_command(context, name)
                    assert inner is not None
                    walk([*words, name], inner)
        else:
            found[" ".join(words)] = command

    walk([], cli)
    return found


def test_the_walk_sees_every_command() -> None:
    assert {words.split()[0] for words in leaves()} == set(COMMANDS)
    assert {"fix apply", "probe run", "journal verify"} <= set(leaves())


@pytest.mark.parametrize("words", leaves())
def test_no_option_of_a_command_records_a_verdict(words: str) -> None:
    for parameter in leaves()[words].params:
        names = [parameter.name or "", *parameter.opts, *parameter.secondary_opts]
        assert not [name for name in names if WORDS.search(name)]
        if isinstance(parameter.type, click.Choice):
            said = {str(choice) for choice in parameter.type.choices}
            assert not said & {str(v) for kind in (Verdict, Standing, Authority) for v in kind}


#: Environment variables that the tool reads; a new one is a new way in.
ENVIRONMENT = {
    "HYPOTREE_ACTOR", "HYPOTREE_ENGINE_CACHE", "HYPOTREE_TOKEN", "HYPOTREE_TRACEBACK", "NO_COLOR",
    "XDG_CACHE_HOME", "XDG_STATE_HOME",
    "HF_HOME", "HF_HUB_CACHE",  # where diagnose looks for the target; what it finds is proposed
    # the terminal UI: where it is shown, and which editor opens a file
    "TERM", "TMUX", "VISUAL", "EDITOR",
}  # fmt: skip


def test_no_other_environment_variable_is_read() -> None:
    named = re.compile(r"environ(?:\.get\(|\[)\s*[\"'](\w+)")
    read = {name for path in ROOT.rglob("*.py") for name in named.findall(path.read_text())}
    assert read == ENVIRONMENT


# -- session.yaml -----------------------------------------------------------------------------


def kinds_in(annotation: Any, seen: set[Any] | None = None) -> Iterator[tuple[str, Any]]:
    """Every type that a value of `annotation` may hold, with the field names on the way."""
    seen = set() if seen is None else seen
    try:
        if annotation in seen:
            return
        seen.add(annotation)
    except TypeError:
        pass
    yield "", annotation
    for argument in typing.get_args(annotation):
        for inner in argument if isinstance(argument, list) else [argument]:
            yield from kinds_in(inner, seen)
    if annotation in {Session, SessionCore} or not inspect.isclass(annotation):
        return
    is_value = issubclass(annotation, msgspec.Struct) or dataclasses.is_dataclass(annotation)
    if is_value and annotation.__module__.startswith("hypotree"):
        for name, inner in typing.get_type_hints(annotation).items():
            if not name.startswith("_"):
                yield name, annotation
                yield from kinds_in(inner, seen)


def test_no_key_of_a_session_yaml_records_a_verdict() -> None:
    found = list(kinds_in(_File))
    names = {name for name, _ in found if name}
    assert {"hypotheses", "claim", "fault", "probe", "role", "approve", "replay", "source"} <= names
    # `healthy` is where the healthy twin of a command probe lies (DESIGN section 6): an input.
    assert not [name for name in names - {"healthy"} if WORDS.search(name)]
    assert not [kind for _, kind in found if kind in TYPES]
    for _, kind in found:
        if inspect.isclass(kind) and issubclass(kind, enum.Enum):
            assert not {str(v) for v in kind} & {str(v) for v in (*Verdict, *Standing)}


def test_every_struct_of_a_session_yaml_refuses_keys_that_it_does_not_know() -> None:
    structs = {
        k for _, k in kinds_in(_File) if inspect.isclass(k) and issubclass(k, msgspec.Struct)
    }
    loose = [s.__name__ for s in structs if not s.__struct_config__.forbid_unknown_fields]
    # A whole declaration as the journal holds it is no key of a YAML.
    assert loose == []


# -- the session ------------------------------------------------------------------------------


def public_functions() -> dict[str, Callable[..., Any]]:
    """Every public function and method of hypotree.session, by its full name."""
    found: dict[str, Callable[..., Any]] = {}
    for info in pkgutil.iter_modules(hypotree.session.__path__, "hypotree.session."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", "") != info.name:
                continue
            if inspect.isfunction(value):
                found[f"{info.name}.{name}"] = value
            elif inspect.isclass(value) and value is not Session:
                found.update(methods(f"{info.name}.{name}", value))
    return {**found, **methods("hypotree.session.Session", Session)}


def methods(prefix: str, kind: type) -> dict[str, Callable[..., Any]]:
    return {
        f"{prefix}.{name}": value
        for name, value in vars(kind).items()
        if inspect.isfunction(value) and (not name.startswith("_") or name == "__init__")
    }


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations as types, those that are imported for typing only included."""
    module = inspect.getmodule(function)
    assert module is not None
    known = typing.get_type_hints(function, {**vars(typing), **vars(module)})
    return {name: kind for name, kind in known.items() if name != "return"}


#: Results and views: made by the session and handed out, no function of it takes one.
HANDED_OUT = ("Applied", "Answer", "Staged", "View", "Measurement")


@pytest.mark.parametrize("name", public_functions())
def test_no_session_function_takes_a_verdict(name: str) -> None:
    function = public_functions()[name]
    if name.endswith("__init__") and any(word in name for word in HANDED_OUT):
        return
    taken = hints(function)
    if name not in READERS:
        assert not [parameter for parameter in taken if WORDS.search(parameter)]
        for parameter, kind in taken.items():
            inner = [k for _, k in kinds_in(_arguments_of(kind)) if k in TYPES]
            assert not inner, f"{name} takes {inner} through {parameter}"


def _arguments_of(kind: Any) -> Any:
    """Of a callback what it returns is a way in; what it is shown is not."""
    if typing.get_origin(kind) is not None and "Callable" in str(typing.get_origin(kind)):
        return typing.get_args(kind)[-1]
    arguments = typing.get_args(kind)
    if any("Callable" in str(typing.get_origin(a)) for a in arguments):
        return tuple[tuple(_arguments_of(a) for a in arguments)]  # type: ignore[misc]
    return kind


def test_every_exception_is_still_there() -> None:
    assert set(READERS) <= set(public_functions())


def test_no_session_function_is_called_as_if_it_recorded_a_verdict() -> None:
    verbs = re.compile(
        r"^(set|mark|record|confirm|refute|resolve|close|force|override|waive|skip)(_|$)"
    )
    called = {name.rpartition(".")[2] for name in public_functions()} - {"resolve_path"}
    assert not [name for name in called if verbs.search(name)]


# -- who makes what ---------------------------------------------------------------------------

#: Values that carry verdicts, and the only modules that put one together.
MAKERS = {
    "Evidence": {"probe/runner.py", "probe/isolation.py"},
    "EvidenceSealed": {"session/probing.py"},
    "CanaryRan": {"session/gate_facts.py"},
    "FixPlanned": {"session/asking.py"},
    "StagedFinding": {"session/staged_probing.py"},
    "Permit": {"gate/decision.py"},
    # The swap's own last look, under the lock, refuses as the gate would have.
    "Refusal": {"gate/decision.py", "session/fixing.py"},
    "GateFacts": {"session/asking.py", "session/gate_facts.py"},
    "FixApproved": {"session/editing.py", "session/fixing.py"},
    "ArtifactApproved": {"session/editing.py"},
    "DeclarationApproved": {"session/editing.py"},
    "FixApplied": {"session/fixing.py"},
}


@functools.cache
def calls(path: Path) -> set[str]:
    """Names that a module calls."""
    nodes = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call))
    return {
        n.func.attr if isinstance(n.func, ast.Attribute) else n.func.id
        for n in nodes
        if isinstance(n.func, ast.Attribute | ast.Name)
    }


@pytest.mark.parametrize("value", MAKERS)
def test_what_carries_a_verdict_is_made_in_one_place(value: str) -> None:
    makers = {str(p.relative_to(ROOT)) for p in ROOT.rglob("*.py") if value in calls(p)}
    assert makers == MAKERS[value]


def test_nobody_but_the_swap_is_handed_a_permit() -> None:
    takers = {str(p.relative_to(ROOT)) for p in ROOT.rglob("*.py") if "swap" in calls(p)}
    assert takers == {"session/fixing.py", "session/recovery.py"}
