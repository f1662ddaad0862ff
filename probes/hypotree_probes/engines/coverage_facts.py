"""What param-coverage gathers before it decides: checkpoint, rule, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import Engine
from hypotree.digest import digest_file
from hypotree.model.evidence import Locator
from hypotree.model.verdict import Authority
from hypotree.probe import ProbeContext
from hypotree_probes.engines.coverage import Ledger, ledger
from hypotree_probes.engines.rules import Match, Rule, rule_set, rules_for
from hypotree_probes.engines.sizes import DraftSizes, draft_sizes

_MAX_LOCATORS: Final = 16


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

    def locators(self, tensors: tuple[str, ...]) -> tuple[Locator, ...]:
        """Where the tensors lie, and where in the engine their fate is decided."""
        found = tuple(
            Locator("draft", self.files[name], name) for name in tensors if name in self.files
        )
        return (*found[:_MAX_LOCATORS], Locator("engine", self.rule.file))


def gather(context: ProbeContext, draft: Checkpoint, engine: Engine) -> Coverage | str:
    """All that the findings need, or why nothing can be said."""
    sizes = draft_sizes(draft.config())
    match = match_engine(engine, sizes.architecture)
    if found := rule_set(engine.name):
        context.cite("rules", found.path, found.digest)
    if match.rule is None:
        return match.why
    if reason := _unanswerable(match.rule, sizes):
        return reason
    layouts = draft.layouts()
    shapes = {name: layout.shape for name, layout in sorted(layouts.items())}
    return Coverage(
        engine=f"{engine.name} {engine.version()}".strip(),
        rule=match.rule,
        sizes=sizes,
        ledger=ledger(shapes, match.rule, sizes),
        authority=Authority.SOURCE_OF_TRUTH if match.is_inside else Authority.HEURISTIC,
        doubt=match.why,
        files={name: where[0] for name in shapes if (where := draft.locate(name))},
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


def _sha256(engine: Engine, name: str) -> str:
    file = engine.file(name)
    return "" if file is None else digest_file(file).hex


def _unanswerable(rule: Rule, sizes: DraftSizes) -> str:
    """Why the rule says nothing about this checkpoint; "" if it does."""
    if sizes.is_quantised:
        return "config.json declares a quantisation, whose parameters these rules do not know"
    if rule.max_layers is not None and sizes.layers > rule.max_layers:
        return (
            f"{rule.model_class} refuses {sizes.layers} layers at start; it takes {rule.max_layers}"
        )
    return ""
