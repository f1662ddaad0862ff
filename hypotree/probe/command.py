"""A command as a probe: any script that a person declared, under a contract of exit codes.

    0    the fault is absent            1    the fault is present
    125  it cannot tell                 any other, a signal or the time limit: INVALID

It gets one JSON object on stdin: `{"hypotree": 1, "fault", "inputs": {NAME: {"path", "kind",
"role"}}, "params"}`. The last line of its stdout is the finding's reason. Output is bounded and made
plain; every file of its inputs counts as read. Its verdict is a guess unless an input is a truth.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from hypotree.artifact.base import Artifact
from hypotree.artifact.files import DiskTree
from hypotree.artifact.plain import plain
from hypotree.digest import CHUNK, Digest, digest_file
from hypotree.errors import MisuseError
from hypotree.model.declaration import CommandProbe
from hypotree.model.evidence import Finding
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.model.wire import canonical_json
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext
from hypotree.probe.command_run import run_bounded

_VERDICTS: Final = {0: Verdict.REFUTED, 1: Verdict.CONFIRMED, 125: Verdict.INCONCLUSIVE}


class Command(Probe):
    """The base of every declared command; `command_class` makes one."""

    declared: ClassVar[CommandProbe]
    folder: ClassVar[Path]
    """The session's folder: where relative paths start and where the command runs."""

    @classmethod
    def own_digest(cls) -> Digest:
        """Of the declaration and of every file that its words name: an edited script is another."""
        parts = [canonical_json(cls.declared)]
        for word in cls.declared.command:
            path = cls.folder / word
            if path.is_file():
                parts.append(digest_file(DiskTree(path).open(path.name)).hex.encode())
        return Digest.of_parts(*parts)

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding, by the exit code."""
        fault = self.declared.fault
        with tempfile.TemporaryDirectory(prefix="hypotree-command-") as scratch:
            question = canonical_json({
                "hypotree": 1,
                "fault": fault,
                "inputs": {
                    taken.name: {
                        "path": _place(context.need(taken.name, Artifact), Path(scratch, taken.name)),
                        "kind": taken.kind,
                        "role": taken.role,
                    }
                    for taken in self.takes
                    if context.has(taken.name)
                },
                "params": dict(context.params),
            })  # fmt: skip
            code, said = run_bounded(self.declared, self.folder, question)
        why = _last_line(said) or f"the command ended with status {code}"
        verdict = _VERDICTS.get(code, Verdict.INVALID)
        if verdict is Verdict.INVALID:
            why = f"the command ended with status {code}, which is none of 0, 1, 125: {why}"
        truth = tuple(t.name for t in self.takes if t.role is Role.TRUTH and context.has(t.name))
        authority = Authority.SOURCE_OF_TRUTH if truth else Authority.HEURISTIC
        if verdict in {Verdict.INVALID, Verdict.INCONCLUSIVE}:
            authority, truth = Authority.NONE, ()
        context.summary = why
        return [Finding(fault, verdict, authority, why, (), truth)]

    def cases(self) -> Sequence[Case]:
        """The planted and healthy inputs of the declaration, if both are given."""
        if not (self.declared.planted and self.declared.healthy):
            return ()
        return (
            Case(
                self.declared.fault,
                lambda _: _given(self.takes, self.folder / self.declared.planted),
                lambda _: _given(self.takes, self.folder / self.declared.healthy),
            ),
        )


def command_class(name: str, declared: CommandProbe, folder: Path) -> type[Command]:
    """The probe class of one declaration."""
    if not declared.command:
        raise MisuseError(f"declaring the probe {name}", "its command is empty")
    takes = tuple(
        Input(given, taken.kind, taken.role, f"input of the command {name}", is_required=True)
        for given, taken in declared.takes.items()
    )
    claim = declared.claim or f"the command {name} says so"
    fields = {
        "name": name,
        "title": f"the command {' '.join(declared.command)[:60]}",
        "version": "1",
        "takes": takes,
        "decides": (Fault(declared.fault, claim, is_guess=not _has_truth(takes)),),
        "time_limit": declared.time_limit,
        "declared": declared,
        "folder": folder,
    }
    return type(f"Command_{name}", (Command,), fields)


def _has_truth(takes: Sequence[Input]) -> bool:
    return any(taken.role is Role.TRUTH for taken in takes)


def _given(takes: Sequence[Input], place: Path) -> Mapping[str, str]:
    """The one input itself, or the entries of a folder that are called like the inputs."""
    if len(takes) == 1:
        return {takes[0].name: str(place)}
    found = {}
    for taken in takes:
        matches = [place / taken.name, *sorted(place.glob(f"{taken.name}.*"))]
        at = next((path for path in matches if path.exists()), None)
        if at is not None:
            found[taken.name] = str(at)
    return found


def _place(artifact: Artifact, scratch: Path) -> str:
    """Where the command finds the artifact, all of whose files are noted as read.

    A staged view is written out, so that the command sees what a fix would make of it.
    """
    members = artifact.members()
    for name in members:
        artifact.note("file", name, artifact.digest_of("file", name))
    if not members or isinstance(artifact.tree, DiskTree):
        return str(Path(artifact.locator).absolute()) if members else artifact.locator
    for name in members:
        file = artifact.tree.open(name)
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as copy:
            for at in range(0, file.size, CHUNK):
                copy.write(file.read(at, min(CHUNK, file.size - at)))
    is_single = Path(artifact.locator).is_file()
    return str(scratch / members[0] if is_single else scratch)


def _last_line(said: bytes) -> str:
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    return plain(lines[-1].strip(), 300) if lines else ""
