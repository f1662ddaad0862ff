"""What a probe author writes against."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, TypeVar

from hypotree.artifact.base import Artifact
from hypotree.digest import Digest
from hypotree.errors import MisuseError, ToolError
from hypotree.model.evidence import Finding, Scalar, Table
from hypotree.model.verdict import Authority, Role, Verdict

#: Entry points of this group are probes: `name = "module:Class"`.
PROBE_GROUP: Final = "hypotree.probes"

A = TypeVar("A", bound=Artifact)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Input:
    """One artifact that a probe takes."""

    name: str
    kind: str
    role: Role
    about: str
    is_required: bool = False


@dataclass(frozen=True)
class Fault:
    """One fault code that a probe decides."""

    code: str
    claim: str
    """The default claim, in words: what is wrong if this is confirmed."""
    fix: str = "advice"
    """The default fix by name."""
    needs: tuple[str, ...] = ()
    """Inputs of which at least one must be given; without them the code is NOT_RUN."""
    is_symptom: bool = False
    is_guess: bool = False
    """Whether it rests on the subject's own values: then no source of truth can ever confirm it."""
    explains: tuple[str, ...] = ()
    advice: str = ""
    """What to do by hand where no fix can write it."""


@dataclass(frozen=True)
class Case:
    """A planted fault and its healthy twin.

    `plant` and `heal` write small artifacts into an empty folder and return the
    locator of each input; `params` are the run's parameters.
    """

    fault: str
    plant: Callable[[Path], Mapping[str, str]]
    heal: Callable[[Path], Mapping[str, str]]
    params: Mapping[str, Scalar] = field(default_factory=dict)
    report: str = ""
    """The public report that the case stands for."""


class ProbeContext:
    """What a running probe is given: readers, parameters, a progress callback, a deadline."""

    def __init__(
        self,
        artifacts: Mapping[str, Artifact],
        roles: Mapping[str, Role],
        params: Mapping[str, Scalar] | None = None,
        progress: Progress | None = None,
        deadline: float | None = None,
    ) -> None:
        self._artifacts = artifacts
        self._roles = roles
        self._progress = progress
        self._deadline = deadline
        self.params: Mapping[str, Scalar] = params or {}
        self.measures: dict[str, float] = {}
        self.tables: list[Table] = []
        self.sources: list[tuple[str, str, Digest]] = []
        self.summary = ""

    def has(self, name: str) -> bool:
        """Whether the input was given."""
        return name in self._artifacts

    def get(self, name: str, kind: type[A]) -> A | None:
        """The input as a reader of `kind`, None if it was not given."""
        artifact = self._artifacts.get(name)
        if artifact is None or isinstance(artifact, kind):
            return artifact
        raise MisuseError(
            f"reading input {name!r} as {kind.kind}", f"it was bound as {artifact.kind}"
        )

    def need(self, name: str, kind: type[A]) -> A:
        """The input as a reader of `kind`; `MisuseError` if it was not given."""
        artifact = self.get(name, kind)
        if artifact is None:
            raise MisuseError("running the probe", f"it needs the input {name!r}")
        return artifact

    def role(self, name: str) -> Role | None:
        """The role in which the input is bound."""
        return self._roles.get(name)

    def measure(self, name: str, value: float) -> None:
        """Record a number that may be compared from run to run."""
        self.measures[name] = value

    def show(self, table: Table) -> None:
        """Record a handful of rows for people."""
        self.tables.append(table)

    def cite(self, name: str, path: str, digest: Digest) -> None:
        """Record a source that ships with the probe (a rule file) and was consulted."""
        self.sources.append((name, path, digest))

    def advance(self, done: int, total: int) -> None:
        """Report progress in bytes; `ToolError` once the time limit has passed."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise ToolError("running the probe", "its time limit has passed", "raise --time-limit")
        if self._progress is not None:
            self._progress(done, total)


class Probe(ABC):
    """A read-only check. Subclasses declare what they take and decide, and implement `run`."""

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str]
    takes: ClassVar[tuple[Input, ...]]
    decides: ClassVar[tuple[Fault, ...]]
    isolated: ClassVar[bool] = False
    """Whether it loads models and must run in a process of its own."""
    time_limit: ClassVar[float] = 600.0

    @abstractmethod
    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding for each fault code that `decides` names."""

    def cases(self) -> Sequence[Case]:
        """At least one planted fault and healthy twin for each code that it can confirm by truth."""
        return ()

    @classmethod
    def fault(cls, code: str) -> Fault | None:
        """The declaration of `code`, None if this probe does not decide it."""
        return next((fault for fault in cls.decides if fault.code == code), None)


def not_run(fault: str, why: str) -> Finding:
    """The finding on a code whose needs were not given."""
    return Finding(fault, Verdict.NOT_RUN, Authority.NONE, why)
