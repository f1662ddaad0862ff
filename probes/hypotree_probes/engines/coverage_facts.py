"""What param-coverage gathers before it decides: by running the engine, else by a rule file.

Where the engine's source is at hand (a path, or a wheel in the cache) its own load_weights
answers. The rule files answer where it is not, and where the run ended in something that only
a module which was not loaded could have told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.digest import digest_file
from hypotree.model.evidence import Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe import ProbeContext
from hypotree_probes.engines.asking import (
    BLIND,
    UNANSWERED,
    ask_about_draft,
    can_ask,
    show_run,
)
from hypotree_probes.engines.coverage import Ledger, ledger
from hypotree_probes.engines.harness.client import HarnessError
from hypotree_probes.engines.ledger_from_run import ledger_from_run, rule_from_run
from hypotree_probes.engines.rules import Match, Rule, rule_set, rules_for
from hypotree_probes.engines.sizes import DraftSizes, draft_sizes

_MAX_LOCATORS: Final = 16
_QUANTISED: Final = "config.json declares a quantisation, whose parameters are not known here"


@dataclass(frozen=True)
class Coverage:
    """The ledger of one checkpoint under one rule, with all that the findings name."""

    engine: str
    """Name and release, for people."""
    rule: Rule
    sizes: DraftSizes
    ledger: Ledger
    authority: Authority
    doubt: str
    """Why the rule may not hold for this engine; "" if it does."""
    files: dict[str, str]
    """The file of each tensor."""
    how: str = ""
    """Whether the engine's source was run, or a rule file was read."""

    def locators(self, tensors: tuple[str, ...]) -> tuple[Locator, ...]:
        """Where the tensors lie, and where in the engine their fate is decided."""
        found = tuple(
            Locator("draft", self.files[name], name) for name in tensors if name in self.files
        )
        return (*found[:_MAX_LOCATORS], Locator("engine", self.rule.file))


@dataclass(frozen=True)
class NoCoverage:
    """Why nothing can be said; INVALID if it is the run itself that failed."""

    verdict: Verdict
    why: str


def gather(context: ProbeContext, draft: Checkpoint, engine: Engine) -> Coverage | NoCoverage:
    """All that the findings need, or why nothing can be said."""
    if not can_ask(engine):
        return _by_rule(context, draft, engine, "")
    sizes = draft_sizes(draft.config())
    if sizes.is_quantised:
        return NoCoverage(Verdict.INCONCLUSIVE, _QUANTISED)
    layouts = draft.layouts()
    shapes = {name: layout.shape for name, layout in sorted(layouts.items())}
    try:
        found = ask_about_draft(engine, draft, {"coverage": shapes})
    except HarnessError as failure:
        said = f"{failure.why} ({failure.where})" if failure.where else failure.why
        if failure.kind in UNANSWERED:
            return _by_rule(context, draft, engine, f"its source was not run to an answer: {said}")
        verdict = Verdict.INVALID if failure.kind in BLIND else Verdict.INCONCLUSIVE
        return NoCoverage(verdict, f"{engine.locator} could not be run: {said}")
    show_run(context, engine, found)
    return _by_run(draft, engine, found, shapes, sizes)


def _by_run(
    draft: Checkpoint,
    engine: Engine,
    found: dict[str, Any],
    shapes: dict[str, tuple[int, ...]],
    sizes: DraftSizes,
) -> Coverage | NoCoverage:
    controls = found["coverage"]["controls"]
    if controls["filled_by_nobody"] or not found["coverage"]["accepts"]:
        why = "the run's own controls failed: names that nobody has fill parameters, or none does"
        return NoCoverage(Verdict.INVALID, why)
    rule = rule_from_run(engine, found)
    if engine.wheel and not _is_the_release(engine, rule):
        # Whoever can write the cache could otherwise forge a release, which is a truth.
        why = f"the cached {rule.file} is not the one of {engine.name} {engine.version()}"
        return NoCoverage(Verdict.INVALID, f"{why}: remove it from the cache and fetch it again")
    return Coverage(
        engine=f"{engine.name} {engine.version()}".strip(), rule=rule, sizes=sizes,
        ledger=ledger_from_run(shapes, rule, found["coverage"], sizes),
        authority=Authority.SOURCE_OF_TRUTH, doubt="",
        files={name: where[0] for name in shapes if (where := draft.locate(name))},
        how="by running its own load_weights",
    )  # fmt: skip


def _by_rule(
    context: ProbeContext, draft: Checkpoint, engine: Engine, why_not_run: str
) -> Coverage | NoCoverage:
    sizes = draft_sizes(draft.config())
    match = match_engine(engine, sizes.architecture)
    if found := rule_set(engine.name):
        context.cite("rules", found.path, found.digest)
    if match.rule is None:
        return NoCoverage(Verdict.INCONCLUSIVE, "; ".join(filter(None, (match.why, why_not_run))))
    if reason := _unanswerable(match.rule, sizes):
        return NoCoverage(Verdict.INCONCLUSIVE, reason)
    layouts = draft.layouts()
    shapes = {name: layout.shape for name, layout in sorted(layouts.items())}
    return Coverage(
        engine=f"{engine.name} {engine.version()}".strip(),
        rule=match.rule,
        sizes=sizes,
        ledger=ledger(shapes, match.rule, sizes),
        authority=Authority.SOURCE_OF_TRUTH if match.is_inside else Authority.HEURISTIC,
        doubt="; ".join(filter(None, (match.why, why_not_run))),
        files={name: where[0] for name in shapes if (where := draft.locate(name))},
        how="; ".join(filter(None, (f"by the rule file {match.rule.name}", why_not_run))),
    )


def match_engine(engine: Engine, architecture: str) -> Match:
    """The rule for a release by its number, or for a source tree by the bytes of its model file.

    A tree is somebody's own copy and may be patched: only if its model file is, byte for
    byte, one of those that a rule was read from does that rule speak for it.
    """
    match = rules_for(engine.name, engine.version(), architecture)
    found = rule_set(engine.name)
    if engine.package is None or found is None:
        return match
    ours = [rule for rule in found.rules if architecture in rule.architectures]
    # The release's own rule first: vllm 0.23 and 0.24 share a llama file, and differ beside it.
    for rule in sorted(ours, key=lambda rule: rule is not match.rule):
        if _sha256(engine, rule.file) in rule.read:
            return Match(rule)
    if match.rule is None:
        return match
    why = f"{match.rule.file} of this tree is none of the releases that the rules were read from"
    return Match(match.rule, why, is_inside=False)


def _is_the_release(engine: Engine, rule: Rule) -> bool:
    """Whether a cached model file is, byte for byte, the one that the rules were read from."""
    found = rule_set(engine.name)
    known = {
        digest
        for entry in (found.rules if found else ())
        for digest, releases in entry.read.items()
        if entry.file == rule.file and engine.version() in releases.split()
    }
    return not known or not known.isdisjoint(rule.read)


def _sha256(engine: Engine, name: str) -> str:
    file = engine.file(name)
    return "" if file is None else digest_file(file).hex


def _unanswerable(rule: Rule, sizes: DraftSizes) -> str:
    """Why the rule says nothing about this checkpoint; "" if it does."""
    if sizes.is_quantised:
        return _QUANTISED
    if rule.max_layers is not None and sizes.layers > rule.max_layers:
        return (
            f"{rule.model_class} refuses {sizes.layers} layers at start; it takes {rule.max_layers}"
        )
    return ""
