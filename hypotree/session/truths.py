"""What is known of the artifacts that a write would rest on, and of those that it would change."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hypotree.artifact.files import DiskFile, FileIdentity
from hypotree.digest import ABSENT, digest_file
from hypotree.errors import HypotreeError
from hypotree.gate import TruthFacts
from hypotree.model.declaration import Hypothesis
from hypotree.model.fix import Plan
from hypotree.model.verdict import Role
from hypotree.probe.registry import probe_class
from hypotree.probe.runner import BoundInput
from hypotree.session.bindings import bind, open_bound
from hypotree.session.core import SessionCore


def truth_facts(
    core: SessionCore, node: str, hypothesis: Hypothesis, names: Iterable[str], plan: Plan | None
) -> tuple[TruthFacts, ...]:
    """The facts on each named input, against the files that `plan` edits and their checkpoint."""
    bound = {
        i.name: i for i in bind(core.folder, hypothesis.probe, hypothesis.inputs, core.artifacts())
    }
    subject = bound.get(plan.subject if plan else "draft")
    members = _identities(subject) if subject else ()
    edited = frozenset(file.path for file in plan.files) if plan else None
    facts = []
    for name in dict.fromkeys(names):
        if name in bound:
            dependence = _dependence(_identities(bound[name]), members, edited)
            approved, now = _approval(core, node, hypothesis, name)
            facts.append(TruthFacts(name, bound[name].locator, dependence, approved, now))
        elif name in core.state.artifacts:
            facts.append(_source_facts(core, name, members, edited))
    return tuple(facts)


def _source_facts(
    core: SessionCore,
    name: str,
    members: tuple[FileIdentity, ...],
    edited: frozenset[str] | None,
) -> TruthFacts:
    """The facts on an artifact that no probe takes, and whose bytes the plan would write."""
    dependence = _dependence(_files_of(core, name), members, edited)
    role = core.artifacts()[name].role
    approved, now = _content_approval(core, name, role)
    return TruthFacts(name, core.path_of(core.artifacts()[name]), dependence, approved, now)


def protected_targets(
    core: SessionCore, node: str, hypothesis: Hypothesis, plan: Plan, judged: Iterable[str]
) -> tuple[str, ...]:
    """Why files of `plan` are not a subject's to change: they are what is held for true.

    The truths of the inputs in `judged` are left out: that they depend is said by `truth_facts`.
    """
    own = hypothesis.inputs[plan.subject].artifact
    if role_in_force(core, node, hypothesis, plan.subject) is not Role.SUBJECT:
        return (f"{own} is declared as {core.artifacts()[own].role}, and a fix changes subjects",)
    left_out = {own, *(hypothesis.inputs[n].artifact for n in judged if n in hypothesis.inputs)}
    files = {_inode(Path(file.path)) for file in plan.files}
    truths = [n for n, a in core.artifacts().items() if n not in left_out and a.role is Role.TRUTH]
    return tuple(
        f"{file.path} belongs to {name}, which is held for true"
        for name in truths
        for file in _files_of(core, name)
        if (file.device, file.inode) in files
    )


def role_in_force(core: SessionCore, node: str, hypothesis: Hypothesis, name: str) -> Role:
    """In what role an input is bound; only a person's declaration may say another than its own."""
    binding = hypothesis.inputs[name]
    own = core.state.artifacts[binding.artifact].artifact.role
    return binding.role if binding.role and node in core.state.persons else own


def _approval(core: SessionCore, node: str, hypothesis: Hypothesis, name: str) -> tuple[bool, str]:
    role = role_in_force(core, node, hypothesis, name)
    needed = next(t.role for t in probe_class(hypothesis.probe).takes if t.name == name)
    return _content_approval(core, hypothesis.inputs[name].artifact, role, needed)


def _content_approval(
    core: SessionCore, artifact: str, role: Role, needed: Role = Role.TRUTH
) -> tuple[bool, str]:
    """Whether a person stands behind this content; a trace may be an observation, a map may not."""
    known = core.state.artifacts[artifact]
    content = core.content_now(artifact)
    approved = known.approved.get(content)
    if content == ABSENT:
        return False, "it cannot be read"
    if known.proposed_by is not None and approved != known.artifact:
        return False, f"proposed by {known.proposed_by.kind}, content {content.short}…"
    if role not in {Role.TRUTH, needed} or role is Role.SUBJECT:
        return False, f"{artifact} is declared as {role}, not as truth"
    if approved is None:
        return False, f"its content is now {content.short}…, which nobody approved"
    return True, f"content {content.short}…"


def _files_of(core: SessionCore, name: str) -> tuple[FileIdentity, ...]:
    try:
        return core.reader(name).identities()
    except (HypotreeError, OSError):
        return ()


def _identities(bound: BoundInput) -> tuple[FileIdentity, ...]:
    """Which files these are; none where they cannot be read, which approval and freshness say."""
    try:
        return open_bound(bound).identities()
    except (HypotreeError, OSError):
        return ()


def _inode(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _dependence(
    truth: tuple[FileIdentity, ...],
    members: tuple[FileIdentity, ...],
    edited: frozenset[str] | None,
) -> str:
    """How files of a truth depend on the subject's: the same file, or a copy of one that is edited.

    A config that two checkpoints of one training share makes neither a copy of the other.
    """
    for one in truth:
        for other in members:
            if (one.device, one.inode) == (other.device, other.inode):
                same = Path(one.path) == Path(other.path)
                return f"the file {other.path} itself" if same else f"a link to {other.path}"
            counts = edited is None or other.path in edited
            if counts and one.size == other.size and _same_bytes(one, other):
                return f"a copy of {other.path}"
    return ""


def _same_bytes(one: FileIdentity, other: FileIdentity) -> bool:
    try:
        return digest_file(DiskFile(Path(one.path))) == digest_file(DiskFile(Path(other.path)))
    except HypotreeError:
        return False
