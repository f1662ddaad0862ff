"""Add to a session: hypotheses, artifacts, notes, approvals. None of these takes a verdict."""

from __future__ import annotations

from pathlib import Path

from hypotree.artifact.kinds import KINDS
from hypotree.digest import ABSENT, Digest
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
from hypotree.session.names import check_name
from hypotree.tree.graph import check_parents, check_rivals

MAX_TEXT = 4000


def add_hypothesis(core: SessionCore, node: str, hypothesis: Hypothesis) -> None:
    """Add a node; its probe must exist and decide its fault, its parent and inputs must be there."""
    check_name("hypothesis", node)
    if node in core.state.hypotheses:
        raise MisuseError(f"adding {node}", "there is a node of that name already", "edit it")
    if node in core.state.artifacts:
        raise MisuseError(f"adding {node}", "there is an artifact of that name: approve what?")
    _check_hypothesis(core, node, hypothesis)
    core.append(HypothesisAdded(node, hypothesis))


def edit_hypothesis(core: SessionCore, node: str, hypothesis: Hypothesis) -> None:
    """Declare a node anew; evidence for the old declaration no longer speaks for it."""
    core.hypothesis(node)
    _check_hypothesis(core, node, hypothesis)
    core.append(HypothesisEdited(node, hypothesis))


def attach_artifact(core: SessionCore, name: str, artifact: Artifact) -> None:
    """Add an artifact, or point a name elsewhere; from an agent this is a proposal only."""
    check_name("artifact", name)
    if name in core.state.hypotheses:
        raise MisuseError(f"attaching {name}", "there is a hypothesis of that name: approve what?")
    kind = artifact.kind or (core.kind_of(name) if name in core.state.artifacts else "")
    content = content_digest(core.folder, artifact, kind)
    if content == ABSENT:
        raise UnknownNameError(
            f"attaching {name}", f"{artifact.path} cannot be read as {kind or 'a file or folder'}",
            "its kind is one of " + ", ".join(KINDS),
        )  # fmt: skip
    if not kind and artifact.role is not Role.SUBJECT and Path(core.path_of(artifact)).is_dir():
        raise MisuseError(
            f"attaching {name}", "for a folder its kind says which files count",
            "its kind is one of " + ", ".join(KINDS),
        )  # fmt: skip
    core.append(
        ArtifactAttached(name, artifact, None if artifact.role is Role.SUBJECT else content)
    )


def approve_artifact(
    core: SessionCore, name: str, approver: Actor, seen: Artifact | None = None
) -> str:
    """Take an artifact's content as it is now for what it is declared as; returns its digest.

    `seen` is the declaration that the person looked at; another one meanwhile is refused.
    """
    core.refresh()
    if name not in core.state.artifacts:
        known = ", ".join(core.state.artifacts) or "none"
        raise UnknownNameError(f"approving {name!r}", "no such artifact", f"there are {known}")
    check_person(approver)
    declared, content = core.state.artifacts[name].artifact, core.content_now(name)
    if content == ABSENT:
        raise MisuseError(f"approving {name}", "it cannot be read")
    if seen not in (None, declared):
        raise RefusedError(f"approving {name}", "it was declared anew meanwhile", "look again")
    core.append(ArtifactApproved(name, declared, content), approver)
    return str(content)


def approve_policy(core: SessionCore, approver: Actor) -> None:
    """Take over the policy of a session.yaml that was changed after the session began."""
    check_person(approver)
    if core.state.pending_policy is None:
        raise MisuseError("approving the policy", "session.yaml asks for no other policy")
    core.append(DeclarationApproved(core.state.pending_policy[0]), approver)


def approve_plan(core: SessionCore, node: str, approver: Actor, seen: Digest | None = None) -> str:
    """Agree to the plan that was last made for a node, which must be the one `seen`, if given."""
    check_person(approver)
    core.refresh()
    if node not in core.state.plans:
        raise MisuseError(f"approving the plan of {node}", "no plan was made", "fix plan makes one")
    digest = core.state.plans[node][0]
    if seen is not None and seen != digest:
        raise RefusedError(
            f"approving the plan of {node}",
            f"another plan was made meanwhile ({digest.short}…, not {seen.short}…)",
            "look at that one",
        )
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
    everything = {**core.state.hypotheses, node: hypothesis}
    check_parents(everything)
    check_rivals(everything)
