"""The exact next command, for whoever has read the verdict."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from hypotree.diagnosis.playbook import Playbook
from hypotree.diagnosis.values import Diagnosed, InputTaken, Overall
from hypotree.model.verdict import Verdict

_FLAGS = {"truth": "--vocab-map", "sample": "--hidden-states", "train": "--train-config"}
_KEPT_IN = "diagnosis"


def next_command(
    verdict: Overall,
    found: Sequence[Diagnosed],
    roots: Sequence[str],
    symptoms: Sequence[str],
    playbook: Playbook,
    inputs: Mapping[str, InputTaken],
    session: str | None,
) -> str:
    """One sentence that ends in a command, or in what to do by hand; "" if there is nothing to do."""
    if verdict == "healthy":
        return ""
    by_code = {one.fault: one for one in found}
    causes = [by_code[code] for code in roots]
    for cause in causes:
        if cause.fix is not None and cause.fix.gate == "allowed":
            return _plan_fix(cause, inputs, session)
    for cause in causes:
        if cause.fix is not None and cause.fix.code == "TRUTH_NOT_APPROVED":
            return _approve(cause, inputs, session)
    if causes:
        return _by_hand(causes[0], playbook, inputs)
    return _look_further(by_code, symptoms, playbook, inputs)


def _by_hand(cause: Diagnosed, playbook: Playbook, inputs: Mapping[str, InputTaken]) -> str:
    """What a person does where no gate is open: advice, or what the fix lacks."""
    if cause.fix is None:
        return f"{cause.fault}, by hand: {cause.advice or 'no fix of ours writes it'}"
    refused = f"the fix of {cause.fault}, {cause.fix.name}, is refused now ({cause.fix.code})"
    if "truth" in playbook.inputs and "truth" not in inputs:
        ask = playbook.inputs["truth"]
        return f"{refused}; a truth to write from: {command_line(inputs, ask.flag, 'TRUTH')}"
    keep = command_line(inputs, "--session", _KEPT_IN)
    return f"{refused}; why: {keep} ; hypotree fix plan --session {_KEPT_IN} {cause.id}"


def command_line(inputs: Mapping[str, InputTaken], *more: str) -> str:
    """The command that diagnoses what was named again, with more."""
    parts = ["hypotree", "diagnose", inputs["draft"].path]
    for name, taken in inputs.items():
        if name != "draft" and taken.origin == "given":
            parts += _named(name, taken.path)
    return shlex.join([*parts, *more])


def _named(name: str, path: str) -> list[str]:
    """The flag that names an input; --input for one that has none of its own."""
    if name in _FLAGS:
        return [_FLAGS[name], path]
    own = {"target", "engine", "log", "trace"}
    return [f"--{name}", path] if name in own else ["--input", f"{name}={path}"]


def _plan_fix(cause: Diagnosed, inputs: Mapping[str, InputTaken], session: str | None) -> str:
    if session is not None:
        where = shlex.quote(session)
        return f"plan the fix of {cause.fault}: hypotree fix plan --session {where} {cause.id}"
    keep = command_line(inputs, "--session", _KEPT_IN)
    then = f"hypotree fix plan --session {_KEPT_IN} {cause.id}"
    return f"keep this as a session, then plan the fix of {cause.fault}: {keep} ; {then}"


def _approve(cause: Diagnosed, inputs: Mapping[str, InputTaken], session: str | None) -> str:
    """What was found becomes a truth by a person's word: approved, or named by flag."""
    truths = [n for n in cause.truth if n in inputs and inputs[n].origin == "found"]
    name = truths[0] if truths else "truth"
    if session is not None:
        where = shlex.quote(session)
        return f"{name} is only proposed; if it is right: hypotree approve --session {where} {name}"
    named = _named(name, inputs[name].path) if name in inputs else []
    return f"if {name} is right, name it: {command_line(inputs, *named, '--session', _KEPT_IN)}"


def _look_further(
    by_code: Mapping[str, Diagnosed],
    symptoms: Sequence[str],
    playbook: Playbook,
    inputs: Mapping[str, InputTaken],
) -> str:
    """Ask for what decides most: first what the symptom points to, then what is open, then the rest."""
    wanted: list[str] = []
    for symptom in playbook.symptoms:
        if symptom.fault in symptoms:
            wanted += symptom.look_at
    seen = {symptom.fault for symptom in playbook.symptoms}
    ordered = sorted(by_code.items(), key=lambda pair: pair[0] in seen)
    unclear = [code for code, one in ordered if one.verdict.is_open]
    unsaid = [code for code, one in ordered if one.verdict is Verdict.NOT_RUN]
    for code in dict.fromkeys([*wanted, *unclear, *unsaid]):
        one = by_code.get(code)
        name = _askable(one.missing if one else (), playbook, inputs)
        if one is not None and name and one.verdict not in {Verdict.CONFIRMED, Verdict.REFUTED}:
            ask = playbook.inputs[name]
            flag = [ask.flag] if "=" in ask.flag else [ask.flag, name.upper()]
            again = command_line(inputs, *flag)
            return f"give {ask.what} to decide {code}: {again}"
    return ""


def _askable(missing: Iterable[str], playbook: Playbook, inputs: Mapping[str, InputTaken]) -> str:
    return next((n for n in missing if n in playbook.inputs and n not in inputs), "")
