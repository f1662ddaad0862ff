"""Add to a session: hypotheses, artifacts, notes, approvals. None of these takes a verdict."""

from __future__ import annotations

import re

from hypotree.digest import ABSENT
from hypotree.errors import MisuseError, RefusedError, UnknownNameError
from hypotree.model.declaration import SYMPTOM, Artifact, Hypothesis
from hypotree.model.event import (
    Actor,
    ArtifactApproved,
    ArtifactAttached,
    DeclarationApproved,
    FixApproved,
    HypothesisAdded,
    HypothesisEdited,
    NoteAdded,
)
from hypotree.model.verdict import Role
from hypotree.probe.registry import probe_class
from hypotree.session.core import SessionCore, content_digest
from hypotree.tree.graph import HypothesisTree

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
MAX_TEXT = 4000


def add_hypothesis(core: SessionCore, node: str, hypothesis: Hypothesis) -> None:
    """Add a node; its probe must exist and decide its fault, its parent and inputs must be there."""
    _check_name("hypothesis", node)
    if node in core.state.hypotheses or node == SYMPTOM:
        raise MisuseError(f"adding {node}", "there is a node of that name already", "edit it")
    _check_hypothesis(core, node, hypothesis)
    core.append(HypothesisAdded(node, hypothesis))


def edit_hypothesis(core: SessionCore, node: str, hypothesis: Hypothesis) -> None:
    """Declare a node anew; evidence for the old declaration no longer speaks for it."""
    core.hypothesis(node)
    _check_hypothesis(core, node, hypothesis)
    core.append(HypothesisEdited(node, hypothesis))


def attach_artifact(core: SessionCore, name: str, artifact: Artifact) -> None:
    """Add an artifact, or point a name elsewhere; from an agent this is a proposal only."""
    _check_name("artifact", name)
    kind = artifact.kind or (core.kind_of(name) if name in core.state.artifacts else "")
    content = content_digest(core.folder, artifact, kind)
    if content == ABSENT:
        raise UnknownNameError(f"attaching {name}", f"{artifact.path} cannot be read")
    core.append(
        ArtifactAttached(name, artifact, None if artifact.role is Role.SUBJECT else content)
    )


def approve_artifact(core: SessionCore, name: str, approver: Actor) -> str:
    """Take an artifact's content as it is now for what it is declared as; returns its digest."""
    if name not in core.state.artifacts:
        known = ", ".join(core.state.artifacts) or "none"
        raise UnknownNameError(f"approving {name!r}", "no such artifact", f"there are {known}")
    check_person(approver)
    content = core.content_now(name)
    if content == ABSENT:
        raise MisuseError(f"approving {name}", "it cannot be read")
    core.append(ArtifactApproved(name, core.state.artifacts[name].artifact, content), approver)
    return str(content)


def approve_policy(core: SessionCore, approver: Actor) -> None:
    """Take over the policy of a session.yaml that was changed after the session began."""
    check_person(approver)
    if core.state.pending_policy is None:
        raise MisuseError("approving the policy", "session.yaml asks for no other policy")
    core.append(DeclarationApproved(core.state.pending_policy[0]), approver)


def approve_plan(core: SessionCore, node: str, approver: Actor) -> str:
    """Agree to the plan that was last made for a node; returns its digest."""
    check_person(approver)
    if node not in core.state.plans:
        raise MisuseError(f"approving the plan of {node}", "no plan was made", "fix plan makes one")
    digest = core.state.plans[node][0]
    core.append(FixApproved(node, digest), approver)
    return str(digest)


def add_note(core: SessionCore, node: str, text: str) -> None:
    """Leave a note on a node or on the symptom."""
    if node != SYMPTOM:
        core.hypothesis(node)
    if not text.strip() or len(text) > MAX_TEXT:
        raise MisuseError("adding a note", f"it must have 1 to {MAX_TEXT} characters")
    core.append(NoteAdded(node, text))


def check_person(approver: Actor) -> None:
    """`RefusedError` unless the approver is a person."""
    if approver.kind != "human":
        raise RefusedError(
            "approving", f"{approver.kind} is no person", "approve at a terminal, or by token"
        )


def _check_hypothesis(core: SessionCore, node: str, hypothesis: Hypothesis) -> None:
    if not hypothesis.claim.strip() or len(hypothesis.claim) > MAX_TEXT:
        raise MisuseError(f"declaring {node}", f"its claim must have 1 to {MAX_TEXT} characters")
    probe = probe_class(hypothesis.probe)
    if probe.fault(hypothesis.fault) is None:
        raise MisuseError(
            f"declaring {node}",
            f"{hypothesis.probe} does not decide {hypothesis.fault}",
            f"it decides {', '.join(fault.code for fault in probe.decides)}",
        )
    for name, binding in hypothesis.inputs.items():
        if binding.artifact not in core.state.artifacts:
            raise UnknownNameError(
                f"declaring {node}",
                f"its input {name} binds {binding.artifact!r}, which is no artifact of this session",
                f"there are {', '.join(core.state.artifacts) or 'none'}",
            )
    HypothesisTree({**core.state.hypotheses, node: hypothesis})


def _check_name(what: str, name: str) -> None:
    if not _NAME.match(name):
        raise MisuseError(
            f"naming a {what} {name[:80]!r}", "a name has 1 to 64 letters, digits, dots, dashes"
        )
