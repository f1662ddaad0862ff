"""Evidence: the sealed record of one probe run. Its JSON is `hypotree.evidence/1`."""

from __future__ import annotations

from typing import Literal

import msgspec

from hypotree.digest import Digest
from hypotree.model.edit import Edit
from hypotree.model.verdict import Authority, Role, Verdict

Scalar = str | int | float | bool | None


class Locator(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where to look: every part that applies."""

    input: str
    file: str = ""
    tensor: str = ""
    element: int | None = None
    line: int | None = None
    field: str = ""


class Table(msgspec.Struct, frozen=True):
    """A handful of rows that show a finding; cells are data, never markup."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fault code, decided."""

    fault: str
    verdict: Verdict
    authority: Authority
    why: str
    locators: tuple[Locator, ...] = ()
    truth: tuple[str, ...] = ()
    """Names of the inputs that the subject was compared with; empty if by the format's definition."""
    remedy: tuple[Edit, ...] = ()
    """The edits that would repair exactly this, where the probe can tell."""


class Read(msgspec.Struct, frozen=True):
    """One thing that the probe read, and the digest of what it saw."""

    kind: str
    name: str
    sha256: Digest


class InputRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One input of a run: `sha256` is over `read` in order, so it moves with what was read only."""

    name: str
    kind: str
    role: Role
    path: str
    sha256: Digest
    read: tuple[Read, ...]
    form: str = ""


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one run of one probe saw and decided.

    Made by the runner only (`hypotree.probe.runner`); `hypothesis` is the digest
    of the declaration that was in force before the run, if there was one.
    """

    schema: Literal["hypotree.evidence/1"]
    probe: str
    version: str
    code_sha256: Digest
    inputs: tuple[InputRecord, ...]
    findings: tuple[Finding, ...]
    seconds: float
    summary: str = ""
    measures: dict[str, float] = {}
    tables: tuple[Table, ...] = ()
    params: dict[str, Scalar] = {}
    hypothesis: Digest | None = None
    environment: dict[str, str] = {}

    def finding(self, fault: str) -> Finding | None:
        """The finding on `fault`, if the probe decided it."""
        return next((found for found in self.findings if found.fault == fault), None)

    def input(self, name: str) -> InputRecord | None:
        """The record of the input bound as `name`."""
        return next((record for record in self.inputs if record.name == name), None)
