"""How much of a workload can the draft vocabulary say at all?

A token without a draft id is never proposed: a map that is right and was counted on other text caps
acceptance (failures A10, where two heads gave bit-identical counters). With a share c of the
workload's tokens in the map, a chain of K drafts gains at most 1 + c + c^2 + ... + c^K tokens a
step if misses fall evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.artifact.token_counts import TokenCounts
from hypotree.errors import MisuseError
from hypotree.model.evidence import Finding, Locator, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.api import Case, Fault, Input, Probe, ProbeContext, not_run
from hypotree_probes.eagle3.acceptance_verdicts import FLOOR
from hypotree_probes.eagle3.d2t_facts import gather

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from hypotree_probes.eagle3.d2t_facts import D2tFacts

LOW: Final = "d2t.low-coverage"
#: Producers keep the most frequent tokens and reach well above nine tenths of their own corpus.
_POOR: Final = 0.8
_DRAFTED: Final = 4
_SHOWN: Final = 8


class D2tCoverage(Probe):
    """Counts the workload's tokens that have a draft id."""

    name = "d2t-coverage"
    title = "The workload's tokens that the draft vocabulary has"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("tokens", "tokens", Role.TRUTH, "token ids, or counts by id, of the workload",
              is_required=True),
    )  # fmt: skip
    decides = (
        Fault(
            LOW,
            "the draft vocabulary lacks most of the tokens that the workload is made of",
            explains=("acceptance.at-floor",),
            advice="count the draft vocabulary on the workload's own text and train the head for it",
        ),
    )

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """One finding, and the ceiling that the map puts on acceptance."""
        steps = context.params.get("num_draft", _DRAFTED)
        if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= 64:
            raise MisuseError("judging coverage", f"num_draft is {steps!r}", "1 to 64")
        counts = context.need("tokens", TokenCounts).counts()
        facts = gather(context)
        targets = _targets(facts)
        if targets is None:
            return [not_run(LOW, "neither d2t nor the head tells which tokens can be drafted")]
        total = counts.total()
        share = sum(n for token, n in counts.items() if token in targets) / total
        ceiling = sum(share**k for k in range(steps + 1))
        best = sum(n for _, n in counts.most_common(len(targets))) / total
        for name, value in (
            ("coverage", share),
            ("length_ceiling", ceiling),
            ("best_coverage", best),
        ):
            context.measure(name, round(value, 4))
        context.measure("tokens", total)
        context.show(_missing(counts, targets, total))
        finding = _decide(share, ceiling, best, steps, total)
        context.summary = f"{finding.why}."
        return [finding]

    def cases(self) -> Sequence[Case]:
        """A10."""
        from hypotree_probes.eagle3.coverage_of_text_cases import CASES

        return CASES


def _targets(facts: D2tFacts) -> frozenset[int] | None:
    """Every target id that can be drafted; without a map draft ids are target ids."""
    if facts.stored is not None:
        return frozenset(facts.targets)
    size = facts.draft_vocabulary or facts.head_rows
    return None if facts.present or size is None else frozenset(range(size))


def _decide(share: float, ceiling: float, best: float, steps: int, total: int) -> Finding:
    why = (
        f"{100 * share:.1f} % of {total} tokens have a draft id, so the accept length cannot pass "
    )
    why += f"{ceiling:.2f} with {steps} drafts; the best map of this size has {100 * best:.1f} %"
    where = (Locator("draft", tensor="d2t"),)
    if ceiling < FLOOR:
        # Arithmetic on two independent artifacts: no head, however good, gets above the floor.
        return Finding(LOW, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, where, ("tokens",))
    if share < _POOR:
        return Finding(LOW, Verdict.CONFIRMED, Authority.HEURISTIC, why, where, ("tokens",))
    return Finding(LOW, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, why, where, ("tokens",))


def _missing(counts: Counter[int], targets: frozenset[int], total: int) -> Table:
    lost = [(token, n) for token, n in counts.most_common() if token not in targets][:_SHOWN]
    rows = tuple((token, n, round(n / total, 4)) for token, n in lost)
    return Table("Frequent tokens without a draft id", ("target id", "count", "share"), rows)
