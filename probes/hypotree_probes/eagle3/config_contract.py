"""Does config.json say what the tensors and the target say?

A config is a claim (failures.md rule 8). This probe tells where it contradicts the tensors beside
it, itself, or the target; what an engine makes of each field is config-effective's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.model.evidence import Finding, Table
from hypotree.model.verdict import Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext, not_run
from hypotree_probes.eagle3.contract_sizes import layer_sizes, vocabulary_sizes
from hypotree_probes.eagle3.contract_verdicts import (
    ROPE,
    TARGET,
    TENSORS,
    TIED,
    VOCABULARY,
    decide_rope,
    decide_target,
    decide_tensors,
    decide_tied,
    decide_vocabulary,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class ConfigContract(Probe):
    """Holds config.json against the tensors, against itself, and against the target."""

    name = "config-contract"
    title = "config.json against the tensors and the target"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("target", "checkpoint", Role.TRUTH, "the target: its config.json is enough"),
    )
    decides = (
        Fault(
            VOCABULARY,
            "draft_vocab_size is not the size of the head and the map",
            advice="write the size of the tensors into the field, once a third source tells which "
            "of them is right; never edit it to silence an error",
        ),
        Fault(
            TENSORS,
            "config.json and the tensors disagree on a size of the layer",
            advice="take config.json and weights from one save; do not fit the one to the other",
        ),
        Fault(
            TIED,
            "the config ties the head to the embedding, and the file has a reduced head",
            explains=("acceptance.at-floor",),
            advice="set tie_word_embeddings to false",
        ),
        Fault(
            ROPE,
            "config.json tells two rope_theta, and readers differ in which they take",
            advice="write the value of the training into both schemas",
        ),
        Fault(
            TARGET,
            "the draft's config was written for another target",
            needs=("target",),
            advice="serve the target that the draft was trained on",
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Five findings; headers and configs only are read."""
        draft = context.need("draft", Checkpoint)
        config = draft.config()
        if not config:
            context.summary = "There is no config.json to compare."
            return [not_run(f.code, "there is no config.json") for f in self.decides]
        target = context.get("target", Checkpoint)
        sizes, layers = vocabulary_sizes(draft), layer_sizes(draft)
        findings = (
            decide_vocabulary(sizes),
            decide_tensors(layers),
            decide_tied(config, sizes),
            decide_rope(config),
            decide_target(config, target.config() if target else None),
        )
        rows = [("draft_vocab_size", sizes.claimed, name, count) for name, count in sizes.tensors]
        rows += [(s.field, s.claimed, s.tensor, s.there) for s in layers]
        context.show(Table("Sizes", ("field", "config.json", "tensor", "there"), tuple(rows)))
        wrong = next((f for f in findings if f.verdict is Verdict.CONFIRMED), None)
        context.summary = f"{wrong.why}." if wrong else f"{len(rows)} sizes agree."
        return findings

    def cases(self) -> Sequence[Case]:
        """F04 and its relatives."""
        from hypotree_probes.eagle3.contract_cases import CASES

        return CASES
