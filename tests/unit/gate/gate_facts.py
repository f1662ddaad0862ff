"""Planted facts: what a gate is asked when nothing stands in the way, and single changes to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypotree.digest import Digest
from hypotree.gate import GateFacts, TruthFacts
from hypotree.model.edit import MapFrom, ReplaceTensor
from hypotree.model.evidence import Evidence, Finding
from hypotree.model.fix import Plan, StagedFinding
from hypotree.model.verdict import Authority, Verdict

FAULT = "acme.wrong"
CODE, CLAIM, RECORD = (Digest.of(word) for word in (b"code", b"claim", b"record"))
PLAN = Plan(
    "H1", "restore-tensor", "draft", (ReplaceTensor("d2t", MapFrom("truth")),), (), ("truth",)
)
GOOD_TRUTH = TruthFacts("truth", "d2t.pt", "", is_approved=True)
FLIPS = StagedFinding("acme", FAULT, Verdict.CONFIRMED, Verdict.REFUTED)


def evidence(
    verdict: Verdict = Verdict.CONFIRMED,
    authority: Authority = Authority.SOURCE_OF_TRUTH,
    **changes: Any,
) -> Evidence:
    found = Finding(FAULT, verdict, authority, f"it is {verdict} by {authority}", (), ("truth",))
    fields: dict[str, Any] = {
        "schema": "hypotree.evidence/1", "probe": "acme", "version": "1", "code_sha256": CODE,
        "inputs": (), "findings": (found,), "seconds": 0.0, "hypothesis": CLAIM,
    }  # fmt: skip
    return Evidence(**{**fields, **changes})


def facts(**changes: Any) -> GateFacts:
    """Facts that a Permit follows from, with `changes`."""
    good = GateFacts(
        node="H1", fault=FAULT, fix="restore-tensor", hypothesis_now=CLAIM, evidence=evidence(),
        evidence_sha256=RECORD, code_now=CODE, version_now="1", truths=(GOOD_TRUTH,),
        canary_faults=(FAULT,), plan=PLAN, staged=(FLIPS,), needs_approval="the policy is approve: ask",
        is_plan_approved=True,
    )  # fmt: skip
    return replace(good, **changes)
