"""Every command and every session method is driven; no standing moves but by a run. DESIGN rule 1."""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from kit import BELIEF, HUMAN, OFFSETS, World, command, dial
from test_no_way_in_for_verdicts import leaves

from hypotree.errors import HypotreeError
from hypotree.model.declaration import Artifact
from hypotree.model.verdict import Role
from hypotree.session import Session
from hypotree.session.approval import new_token
from hypotree_probes.planting import ids

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = {"U": "untested", "R": "refuted", "I": "inconclusive"}

#: Plausible arguments for every command; `{s}` is the session, `{r}` the folder around it.
COMMAND_LINES: dict[str, list[str]] = {
    "probe list": ["probe list", "probe list --json"],
    "probe show": ["probe show d2t-format", "probe show acme-dial --json"],
    "probe run": [
        "probe run d2t-format --draft {r}/draft --truth {r}/map.safetensors --json",
        "probe run d2t-format --draft {r}/draft --param verdict=confirmed",
    ],
    "diagnose": [
        "diagnose {r}/draft --vocab-map {r}/map.safetensors --json", "diagnose {r}/draft --session {s}",
        "diagnose {r}/draft --only-given --session {r}/third --format github",
    ],
    "schema": ["schema diagnosis", "schema session"],
    "new": ["new {r}/second --draft {r}/draft", "new {s} --draft {r}/draft"],
    "show": ["show {s}", "show --session {s} --json", "show --tree {s}"],
    "tui": ["tui {s}"],
    "inspect": ["inspect {r}/draft", "inspect {r}/draft --tensor d2t --json"],
    "add": [
        "add {s} --id A --fault d2t.missing --claim confirmed",
        "add {s} --id U --fault d2t.missing",
    ],
    "attach": [
        "attach --session {s} again {r}/map.safetensors --role truth --kind vocabulary-map",
        "attach --session {s} map {r}/map.safetensors --role truth --kind vocabulary-map",
    ],
    "approve": [
        "approve --session {s} U", "approve --session {s} R", "approve --session {s} map",
        "approve --session {s} policy",
    ],
    "token": ["token --session {s}"],
    "fix list": ["fix list", "fix list --session {s}"],
    "fix plan": [f"fix plan --session {{s}} {node}" for node in BEFORE],
    "fix apply": [f"fix apply --session {{s}} {node} --yes" for node in BEFORE],
    "undo": ["undo --session {s}", "undo --session {s} S1", "undo --session {s} --list"],
    "redo": ["redo --session {s}"],
    "journal show": ["journal show {s}", "journal show {s} --json"],
    "journal verify": ["journal verify {s}", "journal verify {s} --json"],
    "diff": ["diff {r}/draft {r}/draft", "diff {r}/draft {r}/draft --json"],
    "trace spec": ["trace spec sglang", "trace spec vllm -o {r}/t.jsonl"],
    "trace show": ["trace show {r}/map.safetensors"],
    "report export": ["report export {s}", "report export {s} -o {r}/report.md"],
}  # fmt: skip
#: Commands that have nothing to do with a session that is there.
ELSEWHERE = {"demo": "plays in a folder of its own; tests/front/test_demo.py"}


@pytest.fixture
def driven(world: World) -> World:
    """A correct map; one node never run, one refuted, one that its probe could not decide."""
    world.plant(ids(OFFSETS))
    world.document["policy"]["approve"] = "ask"
    world.declare(U=dict(BELIEF), R=dict(BELIEF), I=dial("inconclusive"))
    session = world.open()
    session.run("R")
    session.run("I")
    assert standings(world) == BEFORE
    return world


def standings(world: World) -> dict[str, str]:
    return {n.id: n.standing for n in world.open().snapshot().nodes if n.id in BEFORE}


def test_every_command_is_driven() -> None:
    assert set(COMMAND_LINES) | set(ELSEWHERE) == set(leaves())


@pytest.mark.parametrize("actor", ["", "agent:codex"])
def test_no_command_moves_a_standing(
    driven: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, actor: str
) -> None:
    monkeypatch.setenv("HYPOTREE_ACTOR", actor)
    draft = driven.draft.read_bytes()
    monkeypatch.setenv("HYPOTREE_TOKEN", new_token(driven.session))
    for line in (line for lines in COMMAND_LINES.values() for line in lines):
        ran = command(capsys, *line.format(s=driven.session, r=driven.root).split())
        assert ran.code != 5, f"{line}: {ran.err}"
        assert standings(driven) == BEFORE, line
    assert driven.draft.read_bytes() == draft


def test_a_run_moves_a_standing_and_only_of_its_node(
    driven: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(capsys, "probe", "run", "--session", driven.session, "U").code == 0
    assert standings(driven) == {**BEFORE, "U": "refuted"}


#: Every public method with plausible arguments, over a session that is open.
METHODS: dict[str, Any] = {
    "snapshot": lambda s: s.snapshot(),
    "state": lambda s: s.state(),
    "kinds": lambda s: s.kinds(),
    "hypothesis": lambda s: s.hypothesis("U"),
    "records": lambda s: s.records(),
    "verify": lambda s: s.verify(),
    "undo_sizes": lambda s: s.undo_sizes(),
    "add": lambda s: s.add("N", s.hypothesis("R")),
    "edit": lambda s: s.edit("R", msgspec.structs.replace(s.hypothesis("R"), parent="U")),
    "attach": lambda s: s.attach(
        "m2", Artifact("../map.safetensors", Role.TRUTH, "vocabulary-map")
    ),
    "note": lambda s: s.note("R", "verdict: confirmed"),
    "approve_artifact": lambda s: s.approve_artifact("map", HUMAN),
    "approve_policy": lambda s: s.approve_policy(HUMAN),
    "approve_plan": lambda s: [s.approve_plan(node, HUMAN) for node in BEFORE],
    "plan": lambda s: [s.plan(node) for node in BEFORE],
    "apply": lambda s: [s.apply(node, lambda _: HUMAN) for node in BEFORE],
    "undo": lambda s: s.undo(),
    "redo": lambda s: s.redo(),
    "measure": lambda s: s.measure(),
}
RUNS = {"run"}


def test_every_session_method_is_driven() -> None:
    public = {n for n, v in vars(Session).items() if inspect.isfunction(v) and n[0] != "_"}
    assert set(METHODS) | RUNS == public


@pytest.mark.parametrize("name", METHODS)
def test_no_session_method_moves_a_standing(driven: World, name: str) -> None:
    draft = driven.draft.read_bytes()
    with contextlib.suppress(HypotreeError):
        METHODS[name](driven.open())
    assert standings(driven) == BEFORE
    assert driven.draft.read_bytes() == draft


def test_an_edited_claim_loses_its_standing_and_gains_none(driven: World) -> None:
    session = driven.open()
    for node in BEFORE:
        session.edit(node, msgspec.structs.replace(session.hypothesis(node), claim="confirmed!"))
    assert standings(driven) == {"U": "untested", "R": "stale", "I": "stale"}


# -- forged keys ------------------------------------------------------------------------------

FORGED = [("verdict", "confirmed"), ("standing", "confirmed"), ("status", "solved"),
          ("authority", "source-of-truth"), ("evidence", {"findings": []}), ("success", True)]  # fmt: skip
PLACES: dict[str, Any] = {
    "the file": lambda d: d,
    "the symptom": lambda d: d["symptom"],
    "an artifact": lambda d: d["artifacts"]["map"],
    "a hypothesis": lambda d: d["hypotheses"]["U"],
    "a fix": lambda d: d["hypotheses"]["U"]["fix"],
    "a binding": lambda d: d["hypotheses"]["U"]["inputs"]["truth"],
    "the policy": lambda d: d["policy"],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("key", "value"), FORGED, ids=[key for key, _ in FORGED])
def test_a_forged_key_is_refused_by_its_name(
    world: World, capsys: pytest.CaptureFixture[str], place: str, key: str, value: Any
) -> None:
    hypo = {
        **BELIEF, "fix": {"name": "advice"},
        "inputs": {"draft": {"artifact": "draft"}, "truth": {"artifact": "map"}},
    }  # fmt: skip
    world.declare(U=hypo)
    PLACES[place](world.document)[key] = value
    world.declare()
    ran = command(capsys, "show", world.session)
    assert ran.code == 2
    assert f"unknown field `{key}`" in ran.err
    assert not world.journal.exists()


def test_a_parameter_called_verdict_decides_nothing(world: World) -> None:
    world.plant(ids(OFFSETS))
    world.declare(H1={**BELIEF, "params": {"verdict": "confirmed", "standing": "confirmed"}})
    world.open().run("H1")
    assert world.standing() == "refuted"


@pytest.mark.parametrize(
    "line",
    [
        "!!python/object/apply:os.system ['touch pwned']",
        "hypotree: 1\nsymptom: {what: x}\nhypotheses: {H1: {<<: *x}}",
        "- a list",
        "",
    ],
)
def test_a_session_yaml_that_is_none_is_refused_and_runs_nothing(
    world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str
) -> None:
    (world.session / "session.yaml").write_text(line)
    ran = command(capsys, "show", world.session)
    assert ran.code == 2
    assert not list(tmp_path.rglob("pwned"))
