"""Evidence for people: verdict first, numbers next, nothing to look up."""

from __future__ import annotations

from hypotree.artifact.plain import plain
from hypotree.cli.echo import out, paint, table, wrapped
from hypotree.errors import EXIT_FAULT, EXIT_OK, EXIT_UNDECIDED
from hypotree.model.evidence import Evidence, Finding
from hypotree.model.verdict import Authority, Verdict

_COLOURS = {
    Verdict.CONFIRMED: "red",
    Verdict.REFUTED: "green",
    Verdict.INVALID: "yellow",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NOT_EXERCISED: "yellow",
    Verdict.NOT_RUN: "dim",
}
_ORDER = list(_COLOURS)
_LOCATORS = 3


def exit_code(evidence: Evidence) -> int:
    """1 if a fault is confirmed by truth, 3 if something asked stays open or is only suspected."""
    findings = evidence.findings
    if any(is_confirmed(f) for f in findings):
        return EXIT_FAULT
    suspected = any(f.verdict is Verdict.CONFIRMED for f in findings)
    return EXIT_UNDECIDED if suspected or any(f.verdict.is_open for f in findings) else EXIT_OK


def is_confirmed(finding: Finding) -> bool:
    """Confirmed, and by a source of truth."""
    return finding.verdict is Verdict.CONFIRMED and finding.authority is Authority.SOURCE_OF_TRUTH


def print_evidence(evidence: Evidence, *, everything: bool = False) -> None:
    """One run: what was read, what it says, the findings, the rows, the verdict line."""
    out(paint(f"{evidence.probe}", "bold") + f"  {wrapped(evidence.summary, 4)}")
    for record in evidence.inputs:
        out(f"  {record.name:<8} {record.role:<11} {plain(record.path)}")
    out()
    shown = [f for f in evidence.findings if everything or f.verdict is not Verdict.NOT_RUN]
    width = max((len(f.fault) for f in shown), default=0)
    for finding in sorted(shown, key=lambda f: _ORDER.index(f.verdict)):
        print_finding(finding, width)
    for rows in evidence.tables:
        out(f"\n  {plain(rows.title)}")
        cells = [tuple("-" if c is None else plain(str(c)) for c in row) for row in rows.rows]
        for line in table(rows.columns, cells, 4):
            out(line)
    out()
    out(verdict_line(evidence))


def print_finding(finding: Finding, width: int) -> None:
    """One line a finding, wrapped under itself."""
    word = paint(f"{finding.verdict:<13}", _COLOURS[finding.verdict])
    guess = " (a guess: no source of truth)" if _is_guess(finding) else ""
    out(f"  {word} {finding.fault:<{width}}  {wrapped(finding.why + guess, width + 18)}")
    shown = finding.locators[:_LOCATORS] if finding.verdict is Verdict.CONFIRMED else ()
    for locator in shown:
        parts = [locator.input, locator.file, locator.tensor, locator.field]
        parts += [f"element {locator.element}"] if locator.element is not None else []
        parts += [f"line {locator.line}"] if locator.line is not None else []
        where = ", ".join(plain(part) for part in parts if part)
        out(f"  {'':<13} {'':<{width}}  at {where}")
    if shown and len(finding.locators) > len(shown):
        out(
            f"  {'':<13} {'':<{width}}  and {len(finding.locators) - len(shown)} more places (--json)"
        )


def verdict_line(evidence: Evidence) -> str:
    """The last line: what to take away."""
    confirmed = [f.fault for f in evidence.findings if is_confirmed(f)]
    guessed = [f.fault for f in evidence.findings if _is_guess(f)]
    still_open = [f.fault for f in evidence.findings if f.verdict.is_open]
    decided = sum(f.verdict in {Verdict.CONFIRMED, Verdict.REFUTED} for f in evidence.findings)
    took = f"({evidence.seconds:.2f} s)"
    if confirmed:
        return paint(f"FAULT: {', '.join(confirmed)}", "red") + f" {took}"
    if guessed or still_open:
        return paint(f"CANNOT TELL: {', '.join(guessed + still_open)}", "yellow") + f" {took}"
    return (
        paint(f"no fault found: {decided} of {len(evidence.findings)} decided", "green")
        + f" {took}"
    )


def _is_guess(finding: Finding) -> bool:
    return finding.verdict is Verdict.CONFIRMED and not is_confirmed(finding)
