"""Everything the gate looks at, gathered by the caller and frozen."""

from __future__ import annotations

from dataclasses import dataclass

from hypotree.digest import Digest
from hypotree.model.evidence import Evidence
from hypotree.model.fix import Plan, StagedFinding


@dataclass(frozen=True)
class TruthFacts:
    """What is known of one artifact that the write would rest on."""

    name: str
    path: str
    dependence: str = ""
    """How it depends on the files that the plan edits ("a hard link of …"); "" if it does not."""
    is_approved: bool = False
    """Whether a person declared or approved this very content for what it is bound as."""
    now: str = ""
    """What is there, for the message."""


@dataclass(frozen=True)
class GateFacts:
    """One request to write: the node, its fix, and the state of the world."""

    node: str
    fault: str
    fix: str
    hypothesis_now: Digest
    journal_problem: str = ""
    unsafe: tuple[str, ...] = ()
    """Reasons why the target cannot be replaced safely."""
    evidence: Evidence | None = None
    evidence_sha256: Digest | None = None
    code_now: Digest | None = None
    version_now: str = ""
    changed_reads: tuple[str, ...] = ()
    """What the evidence read and is not so any more."""
    truths: tuple[TruthFacts, ...] = ()
    """The truths of the finding and the sources of the plan's bytes."""
    canary_faults: tuple[str, ...] | None = None
    """Fault codes that the probe's canary showed on this machine with this code; None: not run."""
    open_rivals: tuple[str, ...] = ()
    """Rivals that the policy wants tested and that have no fresh evidence."""
    plan: Plan | None = None
    plan_problem: str = ""
    """Why no plan could be made."""
    out_of_scope: tuple[str, ...] = ()
    """What the staged view changes beyond the plan's declaration."""
    staged: tuple[StagedFinding, ...] | None = None
    """The staged view's findings; None if it was not probed."""
    needs_approval: str = "the policy is approve: ask"
    """Why a person must agree; "" if none must."""
    is_plan_approved: bool = False
