"""A permit cannot be made, changed or carried; the swap takes only one of its own files. Rule 2."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest
from gate_facts import PLAN, RECORD, facts

import hypotree.gate.decision as module
from hypotree.artifact.files import DiskFile
from hypotree.digest import Digest
from hypotree.errors import ToolError
from hypotree.fix.replacement import Replacement, prepare
from hypotree.fix.segments import Fresh, Kept, SegmentedFile
from hypotree.fix.staged_tree import StagedTree
from hypotree.fix.swap import swap
from hypotree.fix.undo import UndoStore
from hypotree.gate import Permit, admit
from hypotree.model.evidence import Read
from hypotree.model.fix import FilePlan, Plan

ELSEWHERE = Plan("H1", "restore-tensor", "draft", (), (), ())


def permit(plan: Plan = PLAN) -> Permit:
    made = admit(facts(plan=plan))
    assert isinstance(made, Permit)
    return made


WAYS: dict[str, Any] = {
    "a call without a seal": lambda p: Permit("H1", "f", PLAN, RECORD),
    "a call with any seal": lambda p: Permit("H1", "f", PLAN, RECORD, seal=object()),
    "a call with bytes": lambda p: Permit("H1", "f", PLAN, RECORD, seal=b"\0" * 32),
    "another permit's seal": lambda p: Permit("H1", "f", ELSEWHERE, RECORD, seal=p.seal),
    "replace the plan": lambda p: dataclasses.replace(p, plan=ELSEWHERE),
    "replace the node": lambda p: dataclasses.replace(p, node="H2"),
    "replace the evidence": lambda p: dataclasses.replace(p, evidence_sha256=Digest.of(b"x")),
    "replace the seal": lambda p: dataclasses.replace(p, seal=object()),
    "a shallow copy": copy.copy,
    "a deep copy": copy.deepcopy,
    "pickle": lambda p: pickle.loads(pickle.dumps(p)),
    "assignment": lambda p: setattr(p, "plan", ELSEWHERE),
    "a subclass": lambda p: type("Mine", (Permit,), {})("H1", "f", PLAN, RECORD, seal=p.seal),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_permit_cannot_be_made_by_hand(way: str) -> None:
    with pytest.raises((ToolError, TypeError, dataclasses.FrozenInstanceError)):
        WAYS[way](permit())


def forged(**changes: Any) -> Permit:
    """A permit put together past its constructor."""
    made = object.__new__(Permit)
    for field in dataclasses.fields(Permit):
        object.__setattr__(made, field.name, changes.get(field.name, getattr(permit(), field.name)))
    return made


class Lenient(Permit):
    """A subclass that lets everything through."""

    def check(self) -> None:
        pass


def test_a_forged_permit_is_found_by_the_swap_before_anything_is_written(tmp_path: Path) -> None:
    target = planted(tmp_path)
    for fake in (forged(plan=target.plan), forged(seal=b"x"), "yes", None.__class__):
        with pytest.raises((ToolError, AttributeError)):
            swap((target.replacement,), fake, lambda: ())  # type: ignore[arg-type]
        with pytest.raises((ToolError, AttributeError)):
            prepare(fake, target.view, target.undo)  # type: ignore[arg-type]
    assert target.path.read_bytes() == b"old bytes"
    assert not target.undo.sizes()


def test_a_lenient_subclass_is_no_permit(tmp_path: Path) -> None:
    target = planted(tmp_path)
    fake = Lenient("H1", "f", target.plan, RECORD, seal=b"")
    with pytest.raises(ToolError):
        swap((target.replacement,), fake, lambda: ())
    assert target.path.read_bytes() == b"old bytes"


def test_only_admit_makes_permits() -> None:
    """The seal is asked for in two places: where a permit is checked, and in `admit`."""
    source = inspect.getsource(module)
    assert source.count("_seal(") == 3
    assert source.count("_KEY") == 2
    assert "_KEY" not in module.__dict__.get("__all__", ())


@dataclasses.dataclass
class Planted:
    path: Path
    plan: Plan
    replacement: Replacement
    view: StagedTree
    undo: UndoStore


def planted(folder: Path) -> Planted:
    from hypotree.artifact.files import DiskTree

    path = folder / "note.txt"
    path.write_bytes(b"old bytes")
    staged = SegmentedFile(DiskFile(path), (Fresh(b"new"), Kept(3, 6)))
    before = (Read("file", "note.txt", Digest.of(b"old bytes")),)
    after = (Read("file", "note.txt", Digest.of(b"new bytes")),)
    plan = Plan("H1", "f", "draft", (), (FilePlan("note.txt", str(path), 9, 9, before, after, ()),))
    undo = UndoStore(folder / "undo")
    replacement = Replacement(path, staged, before, after, Digest.of(b"pack"))
    return Planted(
        path, plan, replacement, StagedTree(DiskTree(folder), {"note.txt": staged}), undo
    )


def test_a_permit_replaces_its_own_file(tmp_path: Path) -> None:
    target = planted(tmp_path)
    given = permit(target.plan)
    swap(prepare(given, target.view, target.undo), given, lambda: ())
    assert target.path.read_bytes() == b"new bytes"


@pytest.mark.parametrize("wrong", ["path", "before", "after", "more", "fewer"])
def test_a_permit_for_other_files_is_refused(tmp_path: Path, wrong: str) -> None:
    target = planted(tmp_path)
    other = tmp_path / "other.txt"
    other.write_bytes(b"old bytes")
    mine = target.replacement
    replacements = {
        "path": (dataclasses.replace(mine, path=other),),
        "before": (dataclasses.replace(mine, before=()),),
        "after": (dataclasses.replace(mine, after=()),),
        "more": (mine, dataclasses.replace(mine, path=other)),
        "fewer": (),
    }[wrong]
    with pytest.raises(ToolError, match="not the ones that the permit names"):
        swap(replacements, permit(target.plan), lambda: ())
    assert target.path.read_bytes() == other.read_bytes() == b"old bytes"


def test_bytes_that_are_not_the_permitted_ones_are_put_back(tmp_path: Path) -> None:
    target = planted(tmp_path)
    evil = SegmentedFile(DiskFile(target.path), (Fresh(b"evil bytes"),))
    given = permit(target.plan)
    with pytest.raises(ToolError, match="read back differently"):
        swap((dataclasses.replace(target.replacement, staged=evil),), given, lambda: ())
    assert target.path.read_bytes() == b"old bytes"


def test_a_permit_is_spent_by_its_own_write(tmp_path: Path) -> None:
    from hypotree.errors import RefusedError

    target = planted(tmp_path)
    given = permit(target.plan)
    replacements = prepare(given, target.view, target.undo)
    swap(replacements, given, lambda: ())
    with pytest.raises(RefusedError, match="STALE_ARTIFACT"):
        swap(replacements, given, lambda: ())
