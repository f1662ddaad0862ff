"""Keep a diagnosis as a session: the same hypotheses, each with evidence of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hypotree.diagnosis.declaring import declare, hypothesis
from hypotree.diagnosis.playbook import Playbook
from hypotree.diagnosis.values import Diagnosed, InputTaken
from hypotree.model.declaration import SYMPTOM
from hypotree.model.event import Actor
from hypotree.model.evidence import Evidence
from hypotree.model.verdict import Verdict
from hypotree.session.approval import new_token

#: A probe that took longer runs again only for what it confirmed or left open; `show` says the rest.
QUICK_SECONDS: Final = 1.0


def keep(
    folder: Path,
    found: Sequence[Diagnosed],
    evidence: Mapping[str, Evidence],
    playbook: Playbook,
    inputs: Mapping[str, InputTaken],
    actor: Actor,
) -> str:
    """Write the session; returns the token with which a person approves ("" for an agent).

    Every node's probe runs again: evidence belongs to one declaration, and nobody hands it over.
    """
    folder.mkdir(parents=True, exist_ok=True)
    what = next((one.claim for one in found if one.fault == "acceptance.at-floor"), "")
    session = declare(folder, inputs, what or "the drafter is suspected", "ask", actor)
    token = "" if actor.is_agent else new_token(folder)
    symptoms = {symptom.fault for symptom in playbook.symptoms}
    kept = [one for one in found if one.fault not in symptoms and _was_run(one)]
    ids = {one.id for one in kept}
    for one in kept:
        ran = evidence[one.evidence or ""]
        parent = one.parent if one.parent in ids else SYMPTOM
        session.add(one.id, hypothesis(one, ran, playbook.plan(ran.probe), inputs, parent))
    if "log" in inputs:
        session.measure()
    for one in kept:
        if _is_worth_it(one, evidence[one.evidence or ""]):
            session.run(one.id)
    return token


def _was_run(one: Diagnosed) -> bool:
    return one.evidence is not None and one.verdict is not Verdict.NOT_RUN


def _is_worth_it(one: Diagnosed, ran: Evidence) -> bool:
    return ran.seconds <= QUICK_SECONDS or one.verdict is not Verdict.REFUTED
