"""What a person wrote down: artifacts, hypotheses, the symptom, the policy."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from hypotree.digest import Digest
from hypotree.model.edit import FieldValue
from hypotree.model.evidence import Scalar
from hypotree.model.verdict import Role
from hypotree.model.wire import digest_of

#: The tree's implicit root: probing it measures the symptom.
SYMPTOM = "symptom"


class Artifact(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A file, a folder or an engine spec; `path` is relative to the session's folder."""

    path: str
    role: Role = Role.SUBJECT
    kind: str = ""
    """Artifact kind; empty means: what the probe's input takes."""
    form: str = ""
    """For a vocabulary map: `offsets` or `absolute`; empty means: decide."""


class Binding(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Which artifact plays an input of a probe, and in which role if not its own."""

    artifact: str
    role: Role | None = None


class FixChoice(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A fix by name with what it needs to know."""

    name: str
    tensor: str = ""
    names: dict[str, str] = {}
    """Old tensor names to new ones."""
    source: str = ""
    """The input or artifact whose bytes are taken; empty means: the truth of the finding."""
    input: str = "draft"
    """The input whose files change."""
    prefixes: dict[str, str] = {}
    """Old beginnings of tensor names to new ones."""
    dtype: str = ""
    file: str = "config.json"
    field: str = ""
    """A field of a JSON file, nested ones with dots."""
    value: FieldValue | msgspec.UnsetType = msgspec.UNSET
    """What to set the field to; without it the field is deleted."""
    diff: str = ""
    """A unified diff of one text file."""
    command: tuple[str, ...] = ()
    """A repair script: run on a staged copy, in a sandbox, its difference becomes the plan."""
    tensors: tuple[str, ...] = ()
    """All that the script may change."""
    fields: tuple[str, ...] = ()


class Hypothesis(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A claim that can be wrong, the fault it names, and the probe that decides it."""

    claim: str
    fault: str
    probe: str
    inputs: dict[str, Binding] = {}
    params: dict[str, Scalar] = {}
    fix: FixChoice | None = None
    parent: str = SYMPTOM
    rivals: tuple[str, ...] = ()

    def digest(self) -> Digest:
        """Of all that was declared, but its place in the tree: an edited claim is another claim."""
        return digest_of((self.claim, self.fault, self.probe, self.inputs, self.params, self.fix))


class Measure(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A probe whose measures say how bad the symptom is."""

    probe: str
    inputs: dict[str, Binding] = {}
    params: dict[str, Scalar] = {}


class Symptom(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the user saw; `replay` measures it again without the server, where that can be done."""

    what: str
    probe: str = ""
    inputs: dict[str, Binding] = {}
    params: dict[str, Scalar] = {}
    replay: Measure | None = None

    def measures(self) -> tuple[Measure, ...]:
        """Every way in which the symptom can be measured, observation first."""
        observed = (Measure(self.probe, self.inputs, self.params),) if self.probe else ()
        return observed + ((self.replay,) if self.replay else ())


class Approve(StrEnum):
    """Who must agree before an admitted fix writes."""

    ASK = "ask"
    AUTO = "auto"


class Rivals(StrEnum):
    """Whether rival hypotheses must have been tested before a fix writes."""

    OFF = "off"
    TESTED = "tested"


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the gate asks beyond its rules; it can only ever ask for more."""

    approve: Approve = Approve.ASK
    rivals: Rivals = Rivals.OFF

    def stricter(self, other: Policy) -> Policy:
        """What both ask for."""
        ask = Approve.ASK in {self.approve, other.approve}
        tested = Rivals.TESTED in {self.rivals, other.rivals}
        return Policy(Approve.ASK if ask else Approve.AUTO, Rivals.TESTED if tested else Rivals.OFF)


class Taken(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a command takes under one name."""

    kind: str
    role: Role = Role.SUBJECT


class CommandProbe(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A command as a probe; `planted` and `healthy` are inputs that show that it can fail."""

    command: tuple[str, ...]
    fault: Annotated[str, msgspec.Meta(pattern=r"^user\.[a-z0-9]+(-[a-z0-9]+)*$")]
    takes: dict[str, Taken] = {}
    claim: str = ""
    planted: str = ""
    healthy: str = ""
    time_limit: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 60.0


class Declaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole session.yaml."""

    symptom: Symptom
    artifacts: dict[str, Artifact] = {}
    hypotheses: dict[str, Hypothesis] = {}
    policy: Policy = Policy()
    probes: dict[str, CommandProbe] = {}
