"""Plans and what became of them."""

from __future__ import annotations

import msgspec

from hypotree.digest import Digest
from hypotree.model.edit import Edit
from hypotree.model.evidence import Read, Scalar
from hypotree.model.verdict import Verdict
from hypotree.model.wire import digest_of


class TensorChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tensor before and after; a name of "" stands for not there."""

    before: str
    after: str
    dtype: str
    shape: tuple[int, ...]
    before_sha256: Digest | None = None
    after_sha256: Digest | None = None
    changed: int = 0
    """Elements that differ."""
    rows: tuple[tuple[Scalar, ...], ...] = ()
    """The first differing elements: index, before, after."""
    max_change: float | None = None
    """The largest absolute difference of an element, where the dtype is a number's."""
    old_dtype: str = ""
    """Set if the dtype changes."""


class FieldChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One field of a JSON file before and after, as JSON; "" stands for not there."""

    field: str
    before: str
    after: str


class FilePlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """What would become of one file."""

    name: str
    path: str
    size_before: int
    size_after: int
    based_on: tuple[Read, ...]
    """What the change was computed from: the header and every touched tensor as they were."""
    after: tuple[Read, ...]
    """The same for the staged file."""
    tensors: tuple[TensorChange, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    lines: tuple[str, ...] = ()
    """A text's difference, as a unified diff."""
    bytes_fresh: int = 0
    """Bytes that are not taken from the old file."""


class Plan(msgspec.Struct, frozen=True):
    """The staged, previewed set of changes of one fix on one subject."""

    node: str
    fix: str
    subject: str
    """Name of the input whose files change."""
    edits: tuple[Edit, ...]
    files: tuple[FilePlan, ...]
    sources: tuple[str, ...] = ()
    """Inputs whose bytes would be written into the subject."""

    def digest(self) -> Digest:
        """Of the whole plan, the digests it was made from included."""
        return digest_of(self)


class StagedFinding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fault on the staged view beside what this session knew of it before."""

    probe: str
    fault: str
    before: Verdict | None
    after: Verdict
    why: str = ""

    @property
    def is_broken(self) -> bool:
        """Refuted before, confirmed now: the plan makes a new fault."""
        return self.before is Verdict.REFUTED and self.after is Verdict.CONFIRMED

    @property
    def is_revealed(self) -> bool:
        """Confirmed now, and never comparable before: faults stack, and this one was hidden."""
        return self.after is Verdict.CONFIRMED and self.before not in {
            Verdict.REFUTED,
            Verdict.CONFIRMED,
        }


class FileSwap(msgspec.Struct, frozen=True):
    """One file replaced: what was touched before and after, and the pack that undoes it."""

    path: str
    before: tuple[Read, ...]
    after: tuple[Read, ...]
    size_before: int
    size_after: int
    pack: Digest
    method: str
    """`reflink-or-copy` for a sibling file, `in-place` for changed ranges only."""
    bytes_written: int
    """Bytes that were not taken from the old file."""
