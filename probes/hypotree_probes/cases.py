"""Every fault code, put to its cases: python -m hypotree_probes.cases [--json] [PROBE …].

One line a case: whether the planted fault was confirmed by a source of truth, whether the healthy
twin was cleared, and the field report that the case stands for. Codes without a case are suspicions
or need an engine; they confirm nothing by truth. Exit code 1 if any case fails.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hypotree.probe.canary import check_case
from hypotree.probe.registry import all_probes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hypotree.probe.api import Probe


@dataclass(frozen=True)
class Line:
    """One case, or one code without any."""

    code: str
    probe: str
    planted: str
    twin: str
    report: str


def lines(names: Sequence[str] = ()) -> Iterator[Line]:
    """All probes' cases, run in this process."""
    for name, probe in all_probes()[0].items():
        if not names or name in names:
            probe.isolated = False
            yield from _of_probe(name, probe)


def _of_probe(name: str, probe: type[Probe]) -> Iterator[Line]:
    cases = probe().cases()
    for fault in probe.decides:
        mine = [case for case in cases if case.fault == fault.code]
        if not mine:
            yield Line(fault.code, name, "-", "-", "no case: a suspicion at most")
        for case in mine:
            problem = check_case(probe, case)
            planted = "confirmed" if not problem or ": healthy," in problem else "MISSED"
            twin = "cleared" if not problem else "-" if planted == "MISSED" else "ACCUSED"
            yield Line(fault.code, name, planted, twin, case.report)


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 if a case failed."""
    names = [word for word in arguments if not word.startswith("-")]
    found = list(lines(names))
    if "--json" in arguments:
        sys.stdout.write(json.dumps([asdict(line) for line in found], indent=2) + "\n")
    else:
        for line in (Line("fault code", "probe", "planted", "twin", "stands for"), *found):
            row = (
                f"{line.code:<30} {line.probe:<18} {line.planted:<10} {line.twin:<8} {line.report}"
            )
            sys.stdout.write(row.rstrip() + "\n")
        codes = {line.code for line in found}
        shown = {line.code for line in found if line.twin == "cleared"}
        sys.stdout.write(f"{len(codes)} codes, {len(shown)} of them shown by {len(found)} lines\n")
    return int(any(line.planted == "MISSED" or line.twin == "ACCUSED" for line in found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
