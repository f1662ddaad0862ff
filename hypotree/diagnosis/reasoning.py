"""From findings to causes; pure. A symptom is no cause, and what another fault explains is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hypotree.diagnosis.values import Overall
from hypotree.model.evidence import Evidence, Finding
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import Fault

#: Which of several findings on one code speaks, by verdict and authority; open answers come last.
_RANK = [
    (Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH), (Verdict.REFUTED, Authority.SOURCE_OF_TRUTH),
    (Verdict.CONFIRMED, Authority.HEURISTIC), (Verdict.REFUTED, Authority.HEURISTIC),
]  # fmt: skip
_OPEN_RANK = [Verdict.INVALID, Verdict.INCONCLUSIVE, Verdict.NOT_EXERCISED, Verdict.NOT_RUN]


@dataclass(frozen=True)
class Answer:
    """What one run of one probe says about one fault code."""

    probe: str
    fault: Fault
    finding: Finding
    evidence: Evidence | None = None
    missing: tuple[str, ...] = ()

    @property
    def is_true(self) -> bool:
        """Confirmed by a source of truth."""
        return is_true(self.finding)

    @property
    def is_suspected(self) -> bool:
        """Confirmed, and by a guess."""
        return self.finding.verdict is Verdict.CONFIRMED and not self.is_true


def is_true(finding: Finding) -> bool:
    """Whether a finding is confirmed by a source of truth."""
    return finding.verdict is Verdict.CONFIRMED and finding.authority is Authority.SOURCE_OF_TRUTH


def discounted(finding: Finding, dependent: Mapping[str, str]) -> Finding:
    """A truth that is the draft itself can clear nothing: what it refuted is open again."""
    tied = [name for name in finding.truth if name in dependent]
    if finding.verdict is not Verdict.REFUTED or not tied:
        return finding
    why = f"{finding.why}; but that proves nothing: {dependent[tied[0]]}"
    return Finding(finding.fault, Verdict.INCONCLUSIVE, Authority.NONE, why, finding.locators)


def speaking(answers: Sequence[Answer]) -> Answer:
    """The answer of several on one code that counts; the others are named in its `why`."""
    first = min(answers, key=_rank)
    against = [a for a in answers if a is not first and _contradicts(first, a)]
    if not against:
        return first
    other = against[0]
    why = (
        f"{first.finding.why}; {other.probe} finds it {other.finding.verdict}: {other.finding.why}"
    )
    return Answer(first.probe, first.fault, _reworded(first.finding, why), first.evidence)


def _rank(answer: Answer) -> int:
    finding = answer.finding
    pair = (finding.verdict, finding.authority)
    if pair in _RANK:
        return _RANK.index(pair)
    if finding.verdict in _OPEN_RANK:
        return len(_RANK) + _OPEN_RANK.index(finding.verdict)
    return len(_RANK) + len(_OPEN_RANK)


def _contradicts(one: Answer, other: Answer) -> bool:
    pair = {one.finding.verdict, other.finding.verdict}
    return (
        pair == {Verdict.CONFIRMED, Verdict.REFUTED}
        and other.finding.authority is not Authority.NONE
    )


def _reworded(finding: Finding, why: str) -> Finding:
    return Finding(
        finding.fault, finding.verdict, finding.authority, why, finding.locators, finding.truth,
        finding.remedy,
    )  # fmt: skip


def explanations(true: Sequence[Answer]) -> dict[str, tuple[str, ...]]:
    """For each confirmed code the confirmed codes that explain it, directly or by others."""
    by_code = {answer.fault.code: answer for answer in true}
    direct = {
        code: [c for c, cause in by_code.items() if _explains(cause, answer)]
        for code, answer in by_code.items()
    }
    return {code: tuple(_closure(code, direct)) for code in by_code}


def _explains(cause: Answer, effect: Answer) -> bool:
    """A cause explains what it says it does, as far as both are about the same tensors."""
    code = effect.fault.code
    if code not in cause.fault.explains or code == cause.fault.code:
        return False
    theirs, ours = _tensors(effect.finding), _tensors(cause.finding)
    return not theirs or not ours or theirs <= ours or not theirs & ours


def _tensors(finding: Finding) -> set[str]:
    return {place.tensor for place in finding.locators if place.tensor}


def _closure(code: str, direct: Mapping[str, list[str]]) -> list[str]:
    found: list[str] = []
    left = list(direct.get(code, ()))
    while left:
        cause = left.pop(0)
        if cause not in found and cause != code:
            found.append(cause)
            left += direct.get(cause, ())
    return found


def root_causes(true: Sequence[Answer], explained: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Codes that nothing explains, those that explain most first, else in the playbook's order."""
    codes = [answer.fault.code for answer in true]
    reach = {code: sum(code in causes for causes in explained.values()) for code in codes}
    roots = [
        answer.fault.code
        for answer in true
        if not answer.fault.is_symptom and not _caused(answer.fault.code, explained, codes)
    ]
    return sorted(roots, key=lambda code: -reach[code])


def _caused(code: str, explained: Mapping[str, tuple[str, ...]], order: Sequence[str]) -> bool:
    """Explained by another; of two that explain each other the one that the playbook names first stands."""
    return any(
        code not in explained.get(cause, ()) or order.index(cause) < order.index(code)
        for cause in explained.get(code, ())
    )


def overall(
    answers: Iterable[Answer], no_fault: frozenset[str], ran: set[str], needs: set[str]
) -> Overall:
    """DESIGN section 9: faulty, healthy or inconclusive.

    `no_fault` are symptoms whose confirmation says that nothing was measured: they count as open.
    """
    found = list(answers)
    if any(a.is_true and a.fault.code not in no_fault for a in found):
        return "faulty"
    is_open = any(
        a.finding.verdict.is_open or a.finding.verdict is Verdict.CONFIRMED for a in found
    )
    return "healthy" if needs <= ran and not is_open else "inconclusive"
