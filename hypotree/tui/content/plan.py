"""A planned file before and after: tensors, fields, text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hypotree.tui.lines import BLANK, Line, Place, Role, columns, line, said

if TYPE_CHECKING:
    from hypotree.model.fix import FieldChange, FilePlan, TensorChange


def file_lines(file: FilePlan) -> Iterator[Line]:
    """All that would change in one file."""
    size = f": {file.size_before:,} to {file.size_after:,} bytes"
    fresh = f", {file.bytes_fresh:,} of them new" if file.bytes_fresh else ""
    yield line(said(file.path, "strong"), said(size + fresh), indent=2, place=Place(file.path))
    for change in file.tensors:
        yield from _tensor(change)
    for field in file.fields:
        yield from _field(field)
    for text in file.lines:
        yield line(said(f"    {text}", _diff_role(text)), indent=6)
    yield BLANK


def _tensor(change: TensorChange) -> Iterator[Line]:
    kind = f"{change.dtype} {list(change.shape)}"
    kind = f"{change.old_dtype} to {kind}" if change.old_dtype else kind
    if change.before and change.after and change.before != change.after:
        yield line(
            said(f"  - {change.before}", "bad"), said(f"  + {change.after}", "good"),
            said(f"  {kind}, bytes unchanged", "dim"), indent=4,
        )  # fmt: skip
        return
    yield line(
        said(f"  {change.after or change.before}", "strong"), said(f"  {kind}, {_what(change)}"),
        indent=4,
    )  # fmt: skip
    for name, digest in (("before", change.before_sha256), ("after", change.after_sha256)):
        if digest is not None:
            yield line(said(f"    {name} {digest.short}…", "dim"))
    if change.rows:
        yield from columns(("element", "before", "after"), change.rows, 4)


def _what(change: TensorChange) -> str:
    if not change.after:
        return "dropped"
    verb = "changed" if change.before else "added"
    most = f", by at most {change.max_change:g}" if change.max_change is not None else ""
    return f"{change.changed} elements {verb}{most}"


def _field(change: FieldChange) -> Iterator[Line]:
    yield line(said(f"  {change.field}", "strong"))
    yield line(said(f"    - {change.before or 'not there'}", "bad"), indent=6)
    yield line(said(f"    + {change.after or 'not there'}", "good"), indent=6)


def _diff_role(text: str) -> Role:
    return "good" if text.startswith("+") else "bad" if text.startswith("-") else "dim"
