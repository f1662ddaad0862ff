"""Approvals on the command line: a person by token or terminal, never an agent. DESIGN rule 4, section 9."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kit import DOUBLE, OFFSETS, REPAIR, Ran, World, command, flip

from hypotree.model.refusal import RefusalCode
from hypotree.session.approval import new_token
from hypotree_probes.planting import ids, safetensors_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., Ran]


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.document["policy"]["approve"] = "ask"
    made.confirmed()
    return made


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return lambda *arguments: command(capsys, *arguments)


@pytest.fixture
def token(world: World, tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(new_token(world.session) + "\n")
    return path


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    for name in ("stdin", "stderr"):
        monkeypatch.setattr(getattr(sys, name), "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.prompt", lambda *_, **__: typed)


def apply(run: Run, world: World, *more: object) -> Ran:
    return run("fix", "apply", "--session", world.session, "H1", *more)


# -- refusals as data -------------------------------------------------------------------------


def test_a_refusal_is_data_on_stdout_and_ends_with_4(world: World, run: Run) -> None:
    ran = apply(run, world, "--yes", "--json")
    assert ran.code == 4
    assert ran.json["written"] is False
    assert list(ran.json["refusal"]) == ["code", "asked", "found", "next", "also"]
    assert ran.json["refusal"]["code"] == "NEEDS_APPROVAL"
    assert world.tensor() == DOUBLE


def test_yes_answers_the_question_and_not_the_gate(world: World, run: Run) -> None:
    assert apply(run, world, "--yes").code == 4
    assert world.tensor() == DOUBLE


def test_a_plan_writes_nothing_and_says_what_the_gate_would_say(world: World, run: Run) -> None:
    ran = run("fix", "plan", "--session", world.session, "H1", "--json")
    assert (ran.code, ran.json["allowed"]) == (4, False)
    assert ran.json["refusal"]["code"] == "NEEDS_APPROVAL"
    assert world.tensor() == DOUBLE


# -- by token ---------------------------------------------------------------------------------


def test_the_sessions_token_lets_the_fix_write(world: World, run: Run, token: Path) -> None:
    ran = apply(run, world, "--token-file", token, "--json")
    assert (ran.code, ran.json["written"]) == (0, True)
    assert world.tensor() == OFFSETS


def test_a_token_in_the_environment_does(
    world: World, run: Run, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPOTREE_TOKEN", token.read_text().strip())
    assert apply(run, world).code == 0


@pytest.mark.parametrize("text", ["wrong", "x" * 32, " "])
def test_any_other_text_is_refused(world: World, run: Run, token: Path, text: str) -> None:
    token.write_text(text)
    ran = apply(run, world, "--token-file", token)
    assert ran.code == 4
    assert world.tensor() == DOUBLE


def test_an_older_token_no_longer_works(world: World, run: Run, token: Path) -> None:
    new_token(world.session)
    ran = apply(run, world, "--token-file", token)
    assert ran.code == 4
    assert "not this session's token" in ran.err


def test_another_sessions_token_does_not_work(world: World, run: Run, token: Path) -> None:
    token.write_text(new_token(world.root / "elsewhere"))
    assert apply(run, world, "--token-file", token).code == 4


def test_the_token_itself_is_kept_nowhere(world: World, run: Run, token: Path) -> None:
    apply(run, world, "--token-file", token)
    secret = token.read_bytes().strip()
    state = Path(os.environ["XDG_STATE_HOME"])
    kept = [*state.rglob("*"), *world.session.rglob("*")]
    assert [p for p in kept if p.is_file()]
    assert not [p for p in kept if p.is_file() and secret in p.read_bytes()]


# -- at a terminal ----------------------------------------------------------------------------


def test_a_person_types_the_files_name(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch, "model.safetensors")
    ran = apply(run, world)
    assert ran.code == 0, ran.err
    assert world.tensor() == OFFSETS


def test_a_person_who_types_anything_else_agreed_to_nothing(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch, "yes")
    assert apply(run, world).code == 4
    assert world.tensor() == DOUBLE


@pytest.mark.parametrize("name", ["agent:codex", "agent", "Agent:codex", "codex", "human", "root"])
def test_an_agent_at_a_terminal_is_no_person(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HYPOTREE_ACTOR", name)
    at_a_terminal(monkeypatch, "model.safetensors")
    assert apply(run, world).code == 4
    assert run("approve", "--session", world.session, "H1").code == 4
    assert run("token", "--session", world.session).code == 4
    assert world.tensor() == DOUBLE


def test_a_token_is_made_by_a_person_who_types_the_sessions_name(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch, token: Path
) -> None:
    at_a_terminal(monkeypatch, world.session.name)
    ran = run("token", "--session", world.session)
    assert ran.code == 0
    token.write_text(ran.out)
    assert apply(run, world, "--yes", "--token-file", token).code == 0


# -- approving beforehand ---------------------------------------------------------------------


def test_a_plan_is_shown_before_it_is_approved(world: World, run: Run, token: Path) -> None:
    ran = run("approve", "--session", world.session, "H1", "--token-file", token)
    assert ran.code == 0
    assert "d2t" in ran.err
    assert "elements changed" in ran.err
    assert apply(run, world, "--yes").code == 0


def test_an_approved_plan_is_no_approval_of_another_one(
    world: World, run: Run, token: Path
) -> None:
    run("approve", "--session", world.session, "H1", "--token-file", token)
    world.plant(ids([0] * 8))
    world.declare(H1={**REPAIR, "fault": "d2t.never-loaded"})
    run("probe", "run", "--session", world.session, "H1")
    ran = apply(run, world, "--yes", "--json")
    assert ran.json["refusal"]["code"] == "NEEDS_APPROVAL"


def test_without_a_plan_there_is_nothing_to_approve(world: World, run: Run, token: Path) -> None:
    world.declare(H1={**REPAIR, "fix": "advice"})
    assert run("approve", "--session", world.session, "H1", "--token-file", token).code == 4


def test_an_agents_truth_is_shown_and_approved_by_its_name(
    world: World, run: Run, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = world.root / "other.safetensors"
    other.write_bytes(safetensors_bytes({"d2t": ids(OFFSETS)}))
    monkeypatch.setenv("HYPOTREE_ACTOR", "agent:codex")
    assert run("attach", "--session", world.session, "other", other, "--role", "truth",
               "--kind", "vocabulary-map").code == 0  # fmt: skip
    assert run("add", world.session, "--id", "H2", "--fault", "d2t.double-subtracted",
               "--input", "draft=draft", "--input", "truth=other").code == 0  # fmt: skip
    assert run("probe", "run", "--session", world.session, "H2").code == 1
    plan = run("fix", "plan", "--session", world.session, "H2", "--json").json
    assert plan["refusal"]["code"] == "TRUTH_NOT_APPROVED"
    assert "other is only proposed (by agent)" in run("show", world.session).out
    monkeypatch.delenv("HYPOTREE_ACTOR")
    ran = run("approve", "--session", world.session, "other", "--token-file", token)
    assert ran.code == 0
    assert "other.safetensors as truth vocabulary-map, proposed by agent" in ran.err
    assert run("fix", "apply", "--session", world.session, "H2", "--token-file", token).code == 0


def test_a_session_that_an_agent_begins_gets_no_token_and_declares_nothing(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HYPOTREE_ACTOR", "agent:codex")
    ran = run("new", tmp_path / "s2", "--draft", world.draft.parent, "--truth", world.map,
              "--approve", "auto", "--json")  # fmt: skip
    assert (ran.code, ran.json["token"]) == (0, None)
    run("add", tmp_path / "s2", "--id", "H1", "--fault", "d2t.double-subtracted")
    run("probe", "run", "--session", tmp_path / "s2", "H1")
    ran = run("fix", "apply", "--session", tmp_path / "s2", "H1", "--json")
    assert ran.json["refusal"]["code"] == "TRUTH_NOT_APPROVED"
    assert "NEEDS_APPROVAL" in ran.json["refusal"]["also"]


def test_a_journal_is_not_begun_twice(world: World, run: Run) -> None:
    (world.session / "session.yaml").unlink()
    ran = run("new", world.session, "--draft", world.draft.parent)
    assert ran.code == 2
    assert not (world.session / "session.yaml").exists()


# -- the journal and failures -----------------------------------------------------------------


def test_a_flipped_bit_is_named_by_verify_and_closes_the_gate(
    world: World, run: Run, token: Path
) -> None:
    flip(world.journal, 300)
    ran = run("journal", "verify", world.session, "--json")
    assert (ran.code, ran.json["state"], ran.json["line"]) == (1, "broken", 1)
    ran = apply(run, world, "--token-file", token)
    assert ran.code == 4
    assert RefusalCode.JOURNAL_BROKEN in ran.out
    assert world.tensor() == DOUBLE


def test_a_torn_tail_is_no_break(world: World, run: Run) -> None:
    with world.journal.open("ab") as file:
        file.write(b'{"seq": 9')
    ran = run("journal", "verify", world.session, "--json")
    assert (ran.code, ran.json["state"]) == (0, "torn")
    assert run("probe", "run", "--session", world.session, "H1").code == 1
    assert run("journal", "verify", world.session, "--json").json["state"] == "whole"


def test_a_crash_of_the_tool_is_not_taken_for_a_confirmed_fault(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would end with 1, which says that a fault is confirmed."""

    def crash(*_: object) -> None:
        message = "\x1b[31mnobody foresaw this"
        raise RuntimeError(message)

    monkeypatch.setattr("hypotree.session.session.take_snapshot", crash)
    ran = run("show", world.session)
    assert ran.code == 5
    assert "nobody foresaw this" in ran.err
    assert "\x1b" not in ran.err


def test_a_folder_that_is_no_session_is_said(world: World, run: Run) -> None:
    ran = run("show", world.root / "nowhere")
    assert ran.code == 2
    assert "no session.yaml" in ran.err
