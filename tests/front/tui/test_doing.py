"""Everything that can be done, by its keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from front.tui.conftest import DECODE
from front.tui.seat import Seat, sitting, ui
from kit import AGENT, DOUBLE, OFFSETS, World

from hypotree.model.declaration import Hypothesis
from hypotree.tui.screens.confirm import Confirm


def kinds(world: World) -> list[str]:
    return [json.loads(x)["event"]["type"] for x in world.journal.read_text().splitlines()]


@ui
async def test_r_runs_the_probe_and_the_evidence_is_shown(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        await seat.run()
        assert "confirmed" in seat.text()
        assert "d2t.double-subtracted" in seat.text()
        assert "What it rests on" in seat.bench.detail.text()
        assert kinds(world)[-1] == "evidence-sealed"


@ui
async def test_r_on_the_symptom_measures_it_and_the_strip_shows_the_number(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("symptom")
        await seat.run()
        assert "accept length 1.05" in seat.text()


@ui
async def test_capital_s_measures_from_anywhere(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H2")
        await seat.press("S")
        await seat.until(lambda: "accept length 1.05" in seat.text())


@ui
async def test_capital_r_runs_all_that_is_untested_and_then_nothing(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.press("R")
        await seat.until(lambda: kinds(world).count("evidence-sealed") == 2)
        await seat.idle()
        await seat.press("R")
        await seat.until(lambda: "nothing to run" in seat.told())
        assert kinds(world).count("evidence-sealed") == 2


@ui
async def test_ctrl_r_runs_the_subtree(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        await seat.press("ctrl+r")
        await seat.until(lambda: kinds(world).count("evidence-sealed") == 2)
        await seat.idle()


@ui
async def test_x_stops_what_runs_and_nothing_of_it_is_recorded(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        await seat.press("ctrl+r")
        await seat.press("x")
        await seat.until(lambda: not seat.bench.is_busy())
        await seat.until(lambda: "stopped" in seat.told())
        assert kinds(world).count("evidence-sealed") < 2


@ui
async def test_p_shows_the_plan_before_and_after_and_writes_nothing(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await confirmed(seat)
        before = proven.draft.read_bytes()
        await seat.press("p")
        await seat.until(lambda: "H1" in seat.bench.answers)
        await seat.pilot.pause(0.1)
        shown = seat.bench.detail.text()
        assert "element  before  after" in shown
        assert "your agreement" in shown
        assert proven.draft.read_bytes() == before


@ui
async def test_apply_asks_for_the_files_name_and_writes_when_it_is_typed(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await asked(seat)
        await seat.write("model.safetensors")
        await seat.press("enter")
        await seat.until(lambda: "fix-applied" in kinds(proven))
        await seat.until(lambda: "written as" in seat.told())
        assert proven.tensor() == OFFSETS
        assert json.loads(proven.journal.read_text().splitlines()[-1])
        approved = [
            json.loads(x) for x in proven.journal.read_text().splitlines() if "fix-approved" in x
        ]
        assert approved[0]["actor"]["kind"] == "human"


@ui
async def test_another_name_writes_nothing_and_says_so(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await asked(seat)
        await seat.write("model")
        await seat.press("enter")
        assert seat.screen == "Confirm"
        assert "that is not model.safetensors" in seat.text()
        assert proven.tensor() == DOUBLE


@ui
async def test_the_key_that_asks_never_agrees(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await asked(seat)
        await seat.press("A", "A", "enter", "enter")
        assert seat.screen == "Confirm"
        assert proven.tensor() == DOUBLE


@ui
async def test_escape_writes_nothing_and_keeps_what_was_typed(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await asked(seat)
        await seat.write("model.safet")
        await seat.press("escape")
        assert seat.screen == "Bench"
        await seat.press("A")
        await seat.until(lambda: seat.screen == "Confirm")
        assert seat.app.screen.query_one("#typed").value == "model.safet"
        assert proven.tensor() == DOUBLE


@ui
async def test_a_refused_fix_shows_the_code_and_is_journaled(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H2")
        await seat.run()
        await seat.press("A")
        await seat.until(lambda: "fix-refused" in kinds(world))
        await seat.until(lambda: "refused REFUTED" in seat.text())
        assert "REFUSED REFUTED" in seat.bench.detail.text()
        assert seat.screen == "Bench"
        assert world.tensor() == DOUBLE


@ui
async def test_apply_before_any_run_is_refused(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        await seat.press("A")
        await seat.until(lambda: "NO_EVIDENCE" in seat.told())
        assert world.tensor() == DOUBLE


@ui
async def test_a_plan_that_changed_while_the_person_typed_is_not_written(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await asked(seat)
        proven.plant(__import__("hypotree_probes.planting", fromlist=["ids"]).ids([9] * 8))
        await seat.write("model.safetensors")
        await seat.press("enter")
        await seat.until(lambda: "STALE_ARTIFACT" in seat.told())
        assert proven.tensor() == [9] * 8


@ui
async def test_an_agent_at_the_screen_is_never_asked_to_agree(proven: World) -> None:
    async with sitting(proven.session, actor=AGENT) as seat:
        await confirmed(seat)
        await seat.press("A")
        await seat.until(lambda: "a person types the name" in seat.told())
        assert seat.screen == "Bench"
        assert proven.tensor() == DOUBLE


@ui
async def test_undo_and_redo_ask_for_the_name_too(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await asked(seat)
        await seat.write("model.safetensors")
        await seat.press("enter")
        await seat.until(lambda: "written as" in seat.told())
        await seat.ready()
        for key, after in (("u", DOUBLE), ("U", OFFSETS), ("u", DOUBLE)):
            await seat.press(key)
            await seat.until(lambda: seat.screen == "Confirm")
            await seat.write("model.safetensors")
            await seat.press("enter")
            await seat.until(lambda after=after: proven.tensor() == after)
            await seat.until(lambda: seat.screen == "Bench")
            await seat.ready()
            await seat.pilot.pause(0.2)
            await seat.ready()


@ui
async def test_add_puts_a_hypothesis_below_the_node(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        await seat.press("a")
        await seat.fill("fault", "d2t.missing")
        await seat.fill("claim", "there is no map")
        await seat.send()
        await seat.until(lambda: seat.node == "H3")
        assert seat.bench.board.shape.hypotheses["H3"].parent == "H1"
        assert "there is no map" in seat.text()


@ui
async def test_a_form_that_fails_comes_back_with_everything_typed(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.press("a")
        await seat.fill("fault", "no.such-code")
        await seat.fill("claim", "typed with care")
        await seat.send()
        await seat.until(lambda: "no probe decides that fault code" in seat.told())
        await seat.press("a")
        assert seat.app.screen.query_one("#field-claim").value == "typed with care"
        await seat.press("escape")
        await seat.press("a")
        assert seat.app.screen.query_one("#field-claim").value == "typed with care"


@ui
async def test_edit_declares_anew_and_the_old_evidence_no_longer_speaks(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await confirmed(seat)
        await seat.press("e")
        await seat.fill("claim", "another claim")
        await seat.send()
        await seat.until(lambda: seat.bench.board.standing("H1") == "stale")
        assert "another claim" in seat.text()


@ui
async def test_split_makes_a_child_of_each_line(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        await seat.press("s")
        await seat.fill("claims", "the first half is wrong\n\nthe second half is wrong")
        await seat.send()
        await seat.until(lambda: len(seat.bench.board.shape.children["H1"]) == 3)
        assert "the second half is wrong" in seat.text()


@ui
async def test_rivals_are_linked_and_unlinked(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        for expected in (("H2",), ()):
            await seat.press("v")
            await seat.press("enter")
            await seat.until(lambda e=expected: declared(seat)["H1"].rivals == e)


@ui
async def test_bind_offers_what_there_is_to_read_first(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        await seat.press("b")
        await seat.until(lambda: seat.screen == "Pick")
        choices = seat.app.screen._choices.all
        assert choices[0].why_not == ""
        assert choices[-1].why_not.startswith("needs a")
        await seat.write("d2t.missing")
        await seat.press("enter")
        await seat.until(lambda: declared(seat)["H1"].fault == "d2t.missing")
        assert set(declared(seat)["H1"].inputs) == {"draft", "truth"}


@ui
async def test_attach_points_a_name_at_a_new_log_and_measures_again(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "new.log").write_text(DECODE.format(2.75, 0.6) * 20)
    async with sitting(world.session) as seat:
        await seat.press("S")
        await seat.until(lambda: "accept length 1.05" in seat.text())
        await seat.idle()
        await seat.press("t")
        await seat.fill("name", "log")
        await seat.fill("path", str(tmp_path / "new.log"))
        await seat.send()
        await seat.until(lambda: "accept length 2.75" in seat.text())


@ui
async def test_a_note_is_kept_and_shown(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.select("H1")
        await seat.press("i")
        await seat.fill("text", "asked the trainer: no second subtraction there")
        await seat.send()
        await seat.until(lambda: "note-added" in kinds(world))
        await seat.press("5")
        await seat.until(lambda: "asked the trainer" in seat.bench.detail.text())


@ui
async def test_export_writes_the_report_and_never_over_a_file(world: World) -> None:
    (world.session / "report.md").write_text("mine")
    async with sitting(world.session) as seat:
        await seat.press("w")
        assert seat.app.screen.query_one("#field-path").value.endswith("report-2.md")
        await seat.send()
        await seat.until((world.session / "report-2.md").exists)
        await seat.press("w")
        await seat.fill("path", str(world.session / "report.md"))
        await seat.send()
        await seat.until(lambda: "there is such a file" in seat.told())
    assert (world.session / "report.md").read_text() == "mine"
    assert "## Tree" in (world.session / "report-2.md").read_text()


@ui
async def test_requests_of_an_agent_are_approved_by_typing(world: World) -> None:
    world.open(AGENT).attach("other", _truth(world))
    async with sitting(world.session) as seat:
        await seat.press("P")
        assert "proposed by agent" in seat.text()
        await seat.press("enter", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, Confirm))
        await seat.write("other")
        await seat.press("enter")
        await seat.until(lambda: "artifact-approved" in kinds(world))
        await seat.until(lambda: not seat.bench.has_requests())


@ui
async def test_a_request_that_is_refused_leaves_a_note(world: World) -> None:
    world.open(AGENT).attach("other", _truth(world))
    async with sitting(world.session) as seat:
        await seat.press("P", "enter", "down", "enter")
        await seat.until(lambda: "note-added" in kinds(world))


@ui
async def test_an_agents_plan_is_shown_as_a_request_and_applied_by_a_person(world: World) -> None:
    agent = world.open(AGENT)
    agent.run("H1")
    agent.apply("H1")
    async with sitting(world.session, (150, 32)) as seat:
        assert "asked by agent codex" in seat.text()
        await seat.press("P", "enter", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, Confirm))
        await seat.write("model.safetensors")
        await seat.press("enter")
        await seat.until(lambda: "fix-applied" in kinds(world))
    assert world.tensor() == OFFSETS


@ui
async def test_what_next_is_one_command(world: World) -> None:
    async with sitting(world.session) as seat:
        await seat.press("full_stop")
        await seat.until(lambda: "hypotree probe run --session" in seat.told())


def declared(seat: Seat) -> Mapping[str, Hypothesis]:
    return seat.bench.board.shape.hypotheses


async def confirmed(seat: Seat) -> None:
    await seat.select("H1")
    assert seat.bench.board.standing("H1") == "confirmed"


async def asked(seat: Seat) -> None:
    await confirmed(seat)
    await seat.press("A")
    await seat.until(lambda: seat.screen == "Confirm")


def _truth(world: World) -> object:
    from hypotree.model.declaration import Artifact
    from hypotree.model.verdict import Role

    return Artifact("../map.safetensors", Role.TRUTH, "vocabulary-map")


pytestmark = pytest.mark.usefixtures("_own_state")
