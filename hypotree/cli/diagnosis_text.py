"""A diagnosis for people: the tree, the causes, what was refuted, what was not checked, what next."""

from __future__ import annotations

from collections.abc import Iterable

from hypotree.artifact.plain import plain
from hypotree.cli.echo import out, paint, wrapped
from hypotree.diagnosis.values import Diagnosed, Diagnosis, InputTaken
from hypotree.model.verdict import Authority, Verdict

_GLYPHS = {
    Verdict.CONFIRMED: ("!", "red"), Verdict.REFUTED: ("x", "green"),
    Verdict.INCONCLUSIVE: ("?", "yellow"), Verdict.NOT_EXERCISED: ("?", "yellow"),
    Verdict.INVALID: ("?", "yellow"), Verdict.NOT_RUN: (".", "dim"),
}  # fmt: skip
_COLOURS = {"faulty": "red", "healthy": "green", "inconclusive": "yellow"}
_LOCATORS = 3


def print_diagnosis(found: Diagnosis, *, everything: bool = False) -> None:
    """The whole of it, most to the point last: that is what stays on the screen."""
    out(paint(f"{wrapped(found.draft, 0)}: {plain(found.subject)}", "bold"))
    for taken in found.inputs[1:]:
        _print_input(taken)
    out()
    _print_tree(found)
    _print_refuted(found)
    _print_unchecked(found, everything=everything)
    for note in found.notes:
        out(f"  note: {wrapped(note, 8)}")
    _print_suspicions(found)
    _print_causes(found)
    out()
    out(paint(f"{found.verdict.upper()}: {verdict_words(found)}", _COLOURS[found.verdict]))
    if found.next:
        out(f"next: {wrapped(found.next, 6)}")


def verdict_words(found: Diagnosis) -> str:
    """What to take away, in one line."""
    tail = f" ({found.seconds:.1f} s)"
    if found.root_causes:
        return ", ".join(found.root_causes) + tail
    if found.verdict == "faulty":
        return f"{', '.join(found.symptoms)}, and nothing that was given shows the cause{tail}"
    decided = sum(one.verdict is Verdict.REFUTED for one in found.hypotheses)
    if found.verdict == "healthy":
        return f"{decided} hypotheses refuted, none confirmed, none open{tail}"
    still_open = [one.fault for one in found.hypotheses if one.verdict.is_open]
    words = ", ".join([*found.suspicions, *still_open]) or "too little was given to call it healthy"
    return f"{words}; {decided} hypotheses refuted{tail}"


def _print_input(taken: InputTaken) -> None:
    origin = "named" if taken.origin == "given" else f"found, and only proposed: {taken.why}"
    form = f", {taken.form}" if taken.form else ""
    text = f"{taken.path} ({origin}{form})"
    out(f"  {taken.name:<13} {wrapped(text, 16)}")


def _print_tree(found: Diagnosis) -> None:
    """What came out of each hypothesis; what was not run is told below."""
    depths = {"symptom": -1}
    for one in found.hypotheses:
        depths[one.id] = depths.get(one.parent, -1) + 1
        if one.verdict is not Verdict.NOT_RUN:
            glyph, colour = _GLYPHS[one.verdict]
            pad = "  " * (depths[one.id] + 1)
            guess = " by a guess" if _is_guess(one) else ""
            head = f"{pad}{paint(glyph, colour)} {one.id:<4}{plain(one.fault)}"
            out(f"{head}  {paint(f'{one.verdict}{guess}', colour)}")


def _print_refuted(found: Diagnosis) -> None:
    refuted = [one for one in found.hypotheses if one.verdict is Verdict.REFUTED]
    if refuted:
        out("\nrefuted, and by what")
    for one in refuted:
        is_sure = one.authority is Authority.SOURCE_OF_TRUTH
        by = ", ".join(one.truth) or ("definition" if is_sure else "a guess")
        out(f"  {plain(one.fault):<27} {wrapped(f'by {by}: {one.why}', 30)}")


def _print_unchecked(found: Diagnosis, *, everything: bool) -> None:
    """What was asked and not answered with its reason; what was not run, by what it lacks."""
    still_open = [one for one in found.hypotheses if one.verdict.is_open]
    left = [one for one in found.hypotheses if one.verdict is Verdict.NOT_RUN]
    if still_open or left:
        out("\nnot decided, and why")
    for one in still_open:
        out(f"  {plain(one.fault):<27} {wrapped(f'{one.verdict}: {one.why}', 30)}")
    if everything:
        for one in left:
            out(f"  {plain(one.fault):<27} {wrapped(one.why, 30)}")
        return
    for why in dict.fromkeys(one.why for one in left):
        codes = ", ".join(one.fault for one in left if one.why == why)
        out(f"  {wrapped(f'{codes}: {why}', 4)}")


def _print_suspicions(found: Diagnosis) -> None:
    guessed = [one for one in found.hypotheses if _is_guess(one)]
    if guessed:
        out("\nsuspected, by a guess that authorises nothing")
    for one in guessed:
        _print_found(one)


def _print_causes(found: Diagnosis) -> None:
    by_code = {one.fault: one for one in found.hypotheses}
    for title, codes in (("symptoms", found.symptoms), ("causes", found.root_causes)):
        if codes:
            out(f"\n{title}")
        for code in codes:
            _print_found(by_code[code])
            explained = [o.fault for o in found.hypotheses if code in o.explained_by]
            if explained and title == "causes":
                out(f"      explains {wrapped(', '.join(explained), 15)}")


def _print_found(one: Diagnosed) -> None:
    out(f"  {paint('!', 'red')} {one.id}  {wrapped(f'{one.claim} ({one.fault})', 7)}")
    out(f"      {wrapped(one.why, 6)}")
    for line in locator_lines(one):
        out(f"      at {plain(line, 300)}")
    if one.truth:
        out(f"      by {plain(', '.join(one.truth))}")
    if one.fix is not None:
        said = (
            "the gate would let it write"
            if one.fix.gate == "allowed"
            else f"refused now, {one.fix.code}"
        )
        out(f"      fix {plain(one.fix.name)}: {said}")
    elif one.advice:
        out(f"      by hand: {wrapped(one.advice, 15)}")


def locator_lines(one: Diagnosed) -> Iterable[str]:
    """The first places, and how many more."""
    for place in one.locators[:_LOCATORS]:
        parts = [place.input, place.file, place.tensor, place.field]
        parts += [f"element {place.element}"] if place.element is not None else []
        parts += [f"line {place.line}"] if place.line is not None else []
        yield ", ".join(part for part in parts if part)
    if len(one.locators) > _LOCATORS:
        yield f"{len(one.locators) - _LOCATORS} more places (--json)"


def _is_guess(one: Diagnosed) -> bool:
    is_sure = one.authority is Authority.SOURCE_OF_TRUTH
    return one.verdict is Verdict.CONFIRMED and not is_sure
