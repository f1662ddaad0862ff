"""A plan for people: every file, tensor and field before and after, and what the probes say of it."""

from __future__ import annotations

from hypotree.artifact.plain import plain
from hypotree.cli.echo import table
from hypotree.model.fix import FilePlan, StagedFinding, TensorChange
from hypotree.session.asking import Answer


def plan_lines(answer: Answer) -> list[str]:
    """Files, tensors before and after, the disk, and the staged view's findings."""
    lines = [f"{answer.fix} for {plain(answer.node)}"]
    for file in answer.plan.files if answer.plan else ():
        lines += _file_lines(file)
    lines += [f"  disk: {fact}" for fact in answer.disk_facts()]
    probes = list(dict.fromkeys(found.probe for found in answer.staged))
    if probes:
        lines.append(f"  staged view: probed by {', '.join(probes)}")
    return lines + [_staged_line(found) for found in answer.staged if _is_telling(found)]


def _file_lines(file: FilePlan) -> list[str]:
    lines = [f"  {plain(file.path, 400)}: {file.size_before} to {file.size_after} bytes"]
    for change in file.tensors:
        lines += _change_lines(change)
    for field in file.fields:
        before, after = field.before or "(not there)", field.after or "(gone)"
        lines.append(f"    {plain(field.field)}: {plain(before)} -> {plain(after)}")
    return lines + [f"    {plain(line)}" for line in file.lines]


def _change_lines(change: TensorChange) -> list[str]:
    kind = f"{change.dtype} {list(change.shape)}"
    if not change.after:
        return [f"    {plain(change.before)}  {kind}, dropped"]
    renamed = f"{plain(change.before)} -> " if change.before not in {"", change.after} else ""
    if renamed and not change.changed and change.after_sha256 is None:
        return [f"    {renamed}{plain(change.after)}  {kind}, bytes unchanged"]
    recast = f" (was {change.old_dtype})" if change.old_dtype else ""
    verb = "changed" if change.before else "added"
    most = "" if change.max_change is None else f", by {change.max_change:g} at most"
    head = f"    {renamed}{plain(change.after)}  {kind}{recast}, {change.changed} elements {verb}{most}"
    rows = [tuple("-" if cell is None else str(cell) for cell in row) for row in change.rows]
    return [head, *(table(("element", "before", "after"), rows, 8) if rows else [])]


def _is_telling(found: StagedFinding) -> bool:
    return found.before != found.after or found.is_broken


def _staged_line(found: StagedFinding) -> str:
    before = found.before or "unknown"
    mark = "  BREAKS" if found.is_broken else "  revealed" if found.is_revealed else ""
    return f"  staged view: {found.fault} {before} -> {found.after}{mark}"
