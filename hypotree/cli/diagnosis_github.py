"""Annotations for GitHub workflows: one line a fault, suspicion or open question.

Format: docs.github.com, "Workflow commands for GitHub Actions": `::error file=F,line=L,title=T::text`,
with %, CR and LF of the text escaped, and : and , besides in a property.
"""

from __future__ import annotations

from hypotree.artifact.plain import plain
from hypotree.cli.diagnosis_text import verdict_words
from hypotree.cli.echo import out
from hypotree.diagnosis.values import Diagnosed, Diagnosis

_TEXT = 900


def print_annotations(found: Diagnosis) -> None:
    """Errors for confirmed causes and symptoms, warnings for suspicions, a notice for the rest."""
    paths = {taken.name: taken.path for taken in found.inputs}
    by_code = {one.fault: one for one in found.hypotheses}
    for code in [*found.root_causes, *found.symptoms]:
        out(_line("error", by_code[code], paths))
    for code in found.suspicions:
        out(_line("warning", by_code[code], paths))
    for one in found.hypotheses:
        if one.verdict.is_open:
            out(_line("notice", one, paths))
    tail = f"; next: {found.next}" if found.next else ""
    text = f"{found.verdict}: {verdict_words(found)}{tail}"
    out(f"::notice title=hypotree diagnose::{_escaped(plain(text, _TEXT))}")


def _line(level: str, one: Diagnosed, paths: dict[str, str]) -> str:
    properties = {"title": f"{one.fault} {one.verdict}"}
    place = next(iter(one.locators), None)
    if place is not None and place.input in paths:
        properties["file"] = f"{paths[place.input]}"
        if place.line is not None:
            properties["line"] = str(place.line)
    said = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {said}::{_escaped(plain(f'{one.claim}: {one.why}', _TEXT))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(plain(text, 300)).replace(":", "%3A").replace(",", "%2C")
