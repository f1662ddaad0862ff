"""Playbooks: which hypotheses to put, in which order, and what to ask for; docs/playbook.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from hypotree.artifact.documents import as_mapping, read_yaml
from hypotree.artifact.files import DiskFile
from hypotree.errors import MalformedError, ToolError, UnknownNameError
from hypotree.model.evidence import Scalar
from hypotree.model.wire import convert
from hypotree.probe.entry_points import entry_points

PLAYBOOK_GROUP = "hypotree.playbooks"
DEFAULT_PLAYBOOK = "eagle3"


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a playbook: an unknown key is a mistake, and said."""


class Ask(_Part, frozen=True):
    """How to ask for an input: its flag, and what it is."""

    flag: str
    what: str


class Subject(_Part, frozen=True):
    """What a checkpoint may be; any of the patterns makes it so, and all of `tensors_all` too."""

    what: str
    is_fit: bool = False
    """Whether this playbook's hypotheses are about it."""
    is_target: bool = False
    architectures: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    tensors_all: tuple[str, ...] = ()


class ProbePlan(_Part, frozen=True):
    """How to run one probe: cheapest first; each of `runs` names the inputs of one run.

    A later run is made only for codes that the earlier ones left open. No runs: all inputs.
    """

    probe: str
    runs: tuple[tuple[str, ...], ...] = ()
    params: dict[str, Scalar] = {}
    names: dict[str, str] = {}
    """Where an input of the probe has another name in `inputs`: two probes may each call one `truth`."""
    group: str = ""
    """Probes of one group run one after another: they share what they start."""
    any_checkpoint: bool = False
    """Whether it can be put to a checkpoint that is no fit subject."""


class Node(_Part, frozen=True):
    """One hypothesis: its fault code, its claim if not the probe's own, and those below it."""

    fault: str
    claim: str = ""
    explains: tuple[str, ...] = ()
    """Codes of which it is the cause, besides those that its probe declares."""
    then: tuple[Node, ...] = ()


class Symptom(_Part, frozen=True):
    """What a user sees, by fault code, and what to look at first if nothing explains it."""

    fault: str
    look_at: tuple[str, ...] = ()


class Playbook(_Part, frozen=True):
    """A whole playbook."""

    playbook: Literal[1]
    title: str
    healthy_needs: tuple[str, ...]
    """Probes that must have run before anything is called healthy."""
    inputs: dict[str, Ask]
    subjects: tuple[Subject, ...]
    probes: tuple[ProbePlan, ...]
    symptoms: tuple[Symptom, ...]
    hypotheses: tuple[Node, ...]
    no_fault: tuple[str, ...] = ()
    """Codes whose confirmation says that nothing was measured: open questions, and no faults."""

    def walk(self) -> Iterator[tuple[Node, str]]:
        """Every hypothesis with its parent's fault code ("" at the top), parents first."""
        yield from _walk(self.hypotheses, "")

    def explains(self, fault: str) -> tuple[str, ...]:
        """What a code explains besides what its probe declares."""
        return next((node.explains for node, _ in self.walk() if node.fault == fault), ())

    def plan(self, probe: str) -> ProbePlan:
        """How to run `probe`, named here or not."""
        return next((p for p in self.probes if p.probe == probe), ProbePlan(probe))


def load_playbook(source: str = "") -> Playbook:
    """The playbook in a file, or an installed one by name; by default the EAGLE-3 one."""
    known = entry_points(PLAYBOOK_GROUP)
    name = source or DEFAULT_PLAYBOOK
    if name in known:
        return _read(_resource(name, known))
    path = Path(name)
    if not path.is_file():
        installed = ", ".join(sorted(known)) or "none: is hypotree installed?"
        raise UnknownNameError(
            f"opening the playbook {name!r}", "there is no such file", f"installed: {installed}"
        )
    return _read(path)


def _resource(name: str, known: Mapping[str, str]) -> Path:
    """The file behind `package:FILE`; the package is found, and no module of it run but its own."""
    package, _, file = known[name].partition(":")
    spec = find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise ToolError(f"opening the playbook {name!r}", f"{package} is no installed package")
    return Path(folders[0], file)


def _read(path: Path) -> Playbook:
    asked = f"reading the playbook {path}"
    data = as_mapping(read_yaml(DiskFile(path), path.name), path.name)
    found: Playbook = convert(data, Playbook, asked)
    codes = [node.fault for node, _ in found.walk()] + [s.fault for s in found.symptoms]
    if twice := {code for code in codes if codes.count(code) > 1}:
        raise MalformedError(asked, f"{min(twice)} stands there twice", "name each code once")
    used = {name for plan in found.probes for name in plan.names.values()}
    used |= {p.names.get(name, name) for p in found.probes for run in p.runs for name in run}
    if unknown := used - found.inputs.keys() - {"draft"}:
        raise MalformedError(asked, f"a run names the input {min(unknown)!r}", "list it in inputs")
    return found


def _walk(nodes: tuple[Node, ...], parent: str) -> Iterator[tuple[Node, str]]:
    for node in nodes:
        yield node, parent
        yield from _walk(node.then, node.fault)
