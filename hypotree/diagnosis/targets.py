"""Find the target: the folder whose config fits the drafter, near it or where its config points."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from hypotree.diagnosis.places import Place, in_hub_cache
from hypotree.diagnosis.playbook import Playbook
from hypotree.diagnosis.sketch import Sketch, sketch, subject_of


def find_target(draft: Sketch, places: list[Place], playbook: Playbook) -> tuple[Path | None, str]:
    """The target's folder and why it is taken; else None, and what was left aside ("" if nothing)."""
    if named := _named(draft.verifier):
        return named, f"the draft's config names it ({draft.verifier})"
    aside = ""
    for place in places:
        if place.path.name != "config.json" or not place.distance:
            continue
        found = sketch(place.path.parent)
        subject = subject_of(found, playbook)
        if subject is None or not subject.is_target:
            continue
        if problem := misfit(draft, found):
            aside = f"{place.path.parent} is left aside as target: {problem}; --target takes it"
            continue
        return place.path.parent, "its hidden size and vocabulary are those that the draft names"
    return None, aside


def misfit(draft: Sketch, target: Sketch) -> str:
    """Why this cannot be the draft's target, "" if both sizes agree."""
    wanted = draft.number("target_hidden_size") or draft.number("hidden_size")
    hidden, vocabulary = target.number("hidden_size"), target.number("vocab_size")
    if wanted is None or hidden is None:
        return "one of them does not say its hidden size"
    if hidden != wanted:
        return f"its hidden size is {hidden}, the draft's {wanted}"
    if draft.number("vocab_size") not in (None, vocabulary):
        return f"its vocabulary is {vocabulary}, the draft's {draft.number('vocab_size')}"
    return ""


def _named(verifier: str) -> Path | None:
    """A verifier by local path, or by hub id in the cache on this machine."""
    if not verifier or "\0" in verifier or len(verifier) > 500:
        return None
    places = [Path(verifier)] if Path(verifier).is_absolute() else []
    places += [cache / f"models--{verifier.replace('/', '--')}" for cache in _hub_caches()]
    found = (in_hub_cache(place) for place in places if place.is_dir())
    return next((p for p in found if (p / "config.json").is_file()), None)


def _hub_caches() -> Iterator[Path]:
    if cache := os.environ.get("HF_HUB_CACHE"):
        yield Path(cache)
    home = os.environ.get("HF_HOME") or str(Path.home() / ".cache" / "huggingface")
    yield Path(home, "hub")
