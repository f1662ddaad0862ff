"""Apply an admitted fix, measure again, undo."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypotree.digest import Digest
from hypotree.errors import HypotreeError, MisuseError, RefusedError, UnknownNameError
from hypotree.fix.lock import locked
from hypotree.fix.recheck import SwapRefusedError, refuse_late_changes
from hypotree.fix.replacement import (
    Replacement,
    machine_errors,
    planned,
    prepare_undo,
    with_packs,
)
from hypotree.fix.swap import swap
from hypotree.gate import Permit
from hypotree.model.declaration import Approve
from hypotree.model.event import Actor, FixApplied, FixApproved, FixRefused, SwapStarted, SwapUndone
from hypotree.model.fix import FileSwap
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.session.asking import Answer, ask, ask_again
from hypotree.session.core import SessionCore
from hypotree.session.editing import check_person
from hypotree.session.probing import changes_since, measure_symptom, run_node
from hypotree.session.recovery import settle, sibling_tag
from hypotree.tree.replay import Swapped


@dataclass(frozen=True)
class Applied:
    """A fix that was written, and what became of measuring again afterwards."""

    id: str
    answer: Answer
    not_measured: str
    """Why the node or the symptom could not be measured again; "" if they were."""


#: Shows a plan to a person and returns who agreed; it raises if they do not.
Agree = Callable[[Answer], Actor]


def apply_fix(
    core: SessionCore,
    node: str,
    agree: Agree | None = None,
    *,
    seen: Digest | None = None,
    in_place: bool = False,
) -> Applied | Refusal:
    """Write the node's fix if the gate admits it; measure the node and the symptom again.

    Under `approve: ask` a person must have approved this very plan before, or
    agree now, which they are asked only if nothing else stands in the way. With
    `seen`, only the plan of that digest is written, whatever the policy.
    """
    answer = ask(core, node)
    if agree is not None and answer.plan is not None and _lacks_only_approval(answer):
        _check_seen(answer, seen)
        approver = agree(answer)
        check_person(approver)
        core.append(FixApproved(node, answer.plan.digest()), approver)
        answer = ask_again(core, answer)
    if isinstance(answer.decision, Refusal):
        return _refused(core, answer, answer.decision)
    _check_seen(answer, seen)
    try:
        swap_id = _write(core, answer, answer.decision, in_place=in_place)
    except SwapRefusedError as error:
        asked = f"apply {answer.fix} for {node}"
        refusal = Refusal(error.refusal, asked, error.found, error.next_step)
        return _refused(core, answer, refusal)
    return Applied(swap_id, answer, _measure_again(core, node))


def _check_seen(answer: Answer, seen: Digest | None) -> None:
    now = answer.plan.digest() if answer.plan else None
    if seen is not None and now != seen:
        raise RefusedError(
            f"applying {answer.fix} for {answer.node}",
            f"the plan is not the one that was shown ({seen.short}…)",
            "look at the plan again",
        )


def _lacks_only_approval(answer: Answer) -> bool:
    decision = answer.decision
    return (
        isinstance(decision, Refusal)
        and decision.code is RefusalCode.NEEDS_APPROVAL
        and not decision.also
    )


def _refused(core: SessionCore, answer: Answer, refusal: Refusal) -> Refusal:
    if not core.journal.is_broken:
        core.append(FixRefused(answer.node, answer.fix, refusal))
    return refusal


def _write(core: SessionCore, answer: Answer, permit: Permit, *, in_place: bool = False) -> str:
    assert answer.view is not None
    with machine_errors(f"applying {answer.fix}"), locked(Path(f.path) for f in permit.plan.files):
        fresh = planned(permit, answer.view, in_place=in_place)
        refuse_late_changes(fresh)
        replacements = with_packs(fresh, core.undo)
        swap_id = _start(core, answer.node, replacements)
        with _settled_on_failure(core, swap_id):
            tag = sibling_tag(core, swap_id)
            swap(replacements, permit, lambda: _changed_since(core, permit), tag)
            core.append(
                FixApplied(
                    swap_id, answer.node, answer.fix, permit.plan.digest(),
                    permit.evidence_sha256, _records(replacements),
                )
            )  # fmt: skip
    return swap_id


def _start(core: SessionCore, node: str, replacements: tuple[Replacement, ...]) -> str:
    """Journal that replacing begins, under an id that no other process takes meanwhile."""
    with core.journal.locked():
        core.refresh()
        swap_id = f"S{core.state.seq + 1}"
        core.journal.append_locked(SwapStarted(swap_id, node, _records(replacements)), core.actor)
    core.refresh()
    return swap_id


def _changed_since(core: SessionCore, permit: Permit) -> tuple[str, ...]:
    """What is not as the permit's own evidence saw it; newer evidence speaks for itself only."""
    core.refresh()
    latest = core.state.latest(permit.node)
    if latest is None or latest.sha256 != permit.evidence_sha256:
        return ("its evidence: the probe ran again meanwhile",)
    if core.hypothesis(permit.node).digest() != latest.evidence.hypothesis:
        return ("its hypothesis",)
    return changes_since(core, permit.node, latest.evidence)


@contextlib.contextmanager
def _settled_on_failure(core: SessionCore, swap_id: str) -> Iterator[None]:
    """Whatever goes wrong after the start: the old files, and an end in the journal, if it can be.

    If it cannot, the next start of the session settles it.
    """
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(HypotreeError, OSError):
            core.refresh()
            if swap_id in core.state.started:
                settle(core, core.state.started[swap_id], str(error) or type(error).__name__)
        raise


def _records(replacements: tuple[Replacement, ...]) -> tuple[FileSwap, ...]:
    return tuple(replacement.record() for replacement in replacements)


def _measure_again(core: SessionCore, node: str) -> str:
    try:
        run_node(core, node)
        if core.state.symptom.measures():
            measure_symptom(core)
    except (HypotreeError, OSError) as error:
        return str(error)
    return ""


def undo_swap(core: SessionCore, swap_id: str = "") -> str:
    """Put back what a swap did (the latest one if no id is given); returns the new swap's id."""
    core.refresh()
    paths = [Path(s.path) for s in _undoable(core, swap_id).swaps]
    with machine_errors("undoing"), locked(paths):
        core.refresh()
        target = _undoable(core, swap_id)
        replacements = prepare_undo(target.swaps, core.undo)
        new_id = _start(core, target.node, replacements)
        with _settled_on_failure(core, new_id):
            swap(replacements, None, lambda: (), sibling_tag(core, new_id))
            core.append(SwapUndone(new_id, target.id, target.node, _records(replacements)))
    return new_id


def redo_swap(core: SessionCore) -> str:
    """Do again what was undone last; returns the new swap's id."""
    core.refresh()
    undone = core.state.undone()
    if not undone:
        raise MisuseError("redoing", "nothing is undone in this session")
    return undo_swap(core, undone[-1].id)


def _undoable(core: SessionCore, swap_id: str) -> Swapped:
    core.refresh()
    if not swap_id:
        in_force = core.state.in_force()
        if not in_force:
            raise MisuseError("undoing", "no fix is in force in this session")
        return in_force[-1]
    found = core.state.swaps.get(swap_id)
    if found is None:
        known = ", ".join(core.state.swaps) or "none"
        raise UnknownNameError(f"undoing {swap_id!r}", "no such swap", f"there are {known}")
    if found.undone_by:
        raise RefusedError(f"undoing {swap_id}", f"it was undone by {found.undone_by} already")
    if core.state.puts_back(found) and core.actor.is_agent and _asks(core):
        raise RefusedError(
            f"undoing {swap_id}", "that would write a fix again, and the policy is approve: ask",
            "a person does it: hypotree redo",
        )  # fmt: skip
    return found


def _asks(core: SessionCore) -> bool:
    return core.state.policy.approve is Approve.ASK
