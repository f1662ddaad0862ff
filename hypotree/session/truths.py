"""What is known of the artifacts that a write would rest on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hypotree.artifact.files import DiskFile, FileIdentity
from hypotree.digest import digest_file
from hypotree.errors import HypotreeError
from hypotree.gate import TruthFacts
from hypotree.model.declaration import Hypothesis
from hypotree.model.fix import Plan
from hypotree.session.bindings import bind, open_bound
from hypotree.session.core import SessionCore


def truth_facts(
    core: SessionCore, hypothesis: Hypothesis, names: Iterable[str], plan: Plan | None
) -> tuple[TruthFacts, ...]:
    """The facts on each named input, against the files that `plan` edits and their checkpoint."""
    bound = {
        i.name: i for i in bind(core.folder, hypothesis.probe, hypothesis.inputs, core.artifacts())
    }
    subject = bound.get(plan.subject if plan else "draft")
    members = open_bound(subject).identities() if subject else ()
    facts = []
    for name in dict.fromkeys(names):
        if name in bound:
            reader = open_bound(bound[name])
            artifact = hypothesis.inputs[name].artifact
            approved, now = _approval(core, artifact)
            facts.append(
                TruthFacts(
                    name,
                    bound[name].locator,
                    _dependence(reader.identities(), members),
                    approved,
                    now,
                )
            )
    return tuple(facts)


def _approval(core: SessionCore, name: str) -> tuple[bool, str]:
    known = core.state.artifacts[name]
    content = core.content_now(name)
    approved = known.approved.get(content)
    if known.proposed_by is not None and approved != known.artifact:
        return False, f"proposed by {known.proposed_by.kind}, content {content.short}…"
    if approved is None:
        return False, f"its content is now {content.short}…, which nobody approved"
    return True, f"content {content.short}…"


def _dependence(truth: tuple[FileIdentity, ...], members: tuple[FileIdentity, ...]) -> str:
    """How files of a truth depend on the subject's: the same file, or a copy of one."""
    for one in truth:
        for other in members:
            if (one.device, one.inode) == (other.device, other.inode):
                same = Path(one.path) == Path(other.path)
                return f"the file {other.path} itself" if same else f"a link to {other.path}"
            if one.size == other.size and _same_bytes(one, other):
                return f"a copy of {other.path}"
    return ""


def _same_bytes(one: FileIdentity, other: FileIdentity) -> bool:
    try:
        return digest_file(DiskFile(Path(one.path))) == digest_file(DiskFile(Path(other.path)))
    except HypotreeError:
        return False
