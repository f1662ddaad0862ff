"""What a log with printed shapes or a recorded sample shows about fusion.

Drafter and target hand states over in one of two widths: what `fc` takes, or, if the target
captured nothing, a single layer's; then SGLang's shape test skips `fc` without a message
(facts/eagle3.md section 3). Recurrent steps rightly see the narrow width too, so one wide
state is enough to clear a log.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hypotree.model.evidence import Locator
from hypotree.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypotree.artifact.log import Log
    from hypotree.artifact.sample import Sample
    from hypotree_probes.eagle3.fusion import Fusion

#: `hidden_states.shape=torch.Size([5, 7168])`, `hidden_states: (5, 7168)`, `hidden_states shape:
#: [5, 7168]`. One captured layer of several (`aux_hidden_states`) is not what is handed over.
_PRINTED: Final = re.compile(
    r"(?<!aux_)hidden_states?(?:[. ]shape)?[\"']?\s{0,4}[:=,]?\s{0,4}(?:torch\.Size\()?"
    r"[\[(]\s{0,4}((?:\d{1,9}\s{0,4},\s{0,4}){1,3})(\d{1,9})\s{0,4}[\])]"
)


@dataclass(frozen=True)
class Sight:
    """What one observation says about `fusion.bypassed`."""

    source: str
    verdict: Verdict
    why: str
    width: int | None = None
    locators: tuple[Locator, ...] = ()


def from_log(log: Log, fusion: Fusion) -> Sight | None:
    """Widths that somebody printed; None if the log shows none, or none that could tell."""
    seen: dict[int, int] = {}
    counts = dict.fromkeys((fusion.gives, fusion.takes), 0)
    for line, width in _printed_widths(log):
        if width in counts:
            counts[width] += 1
            seen.setdefault(width, line)
    if not seen or not fusion.narrows:
        return None
    width = fusion.takes if fusion.takes in seen else fusion.gives
    why = f"the log prints hidden states {width} wide in {counts[width]} lines, "
    why += f"first in line {seen[width]}"
    where = Locator("log", file=Path(log.locator).name, line=seen[width])
    return _by_width("log", width, fusion, why, where)


def from_sample(sample: Sample, fusion: Fusion) -> Sight:
    """The width of states that were recorded on their way to the drafter."""
    width = sample.record().handed_width
    where = Locator("sample", file=Path(sample.locator).name)
    return _by_width("sample", width, fusion, f"the recorded states are {width} wide", where)


def _by_width(source: str, width: int | None, fusion: Fusion, why: str, where: Locator) -> Sight:
    if width == fusion.takes:
        return Sight(source, Verdict.REFUTED, f"{why}, as fc wants them", width, (where,))
    if width == fusion.gives:
        why = f"{why} where fc wants {fusion.takes}: a single layer's state, so fc is skipped"
        return Sight(source, Verdict.CONFIRMED, why, width, (where,))
    why = f"{why}, neither {fusion.takes} nor {fusion.gives}: of another model?"
    return Sight(source, Verdict.INCONCLUSIVE, why, width, (where,))


def _printed_widths(log: Log) -> Iterator[tuple[int, int]]:
    for number, line in log.lines():
        if "hidden_state" in line:
            for found in _PRINTED.finditer(line):
                yield number, int(found[2])
