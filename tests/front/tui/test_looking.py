"""What is on the screen, at every size and in every colour, and how one finds one's way."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from front.tui.seat import TUI, sitting, ui
from kit import AGENT, World

from hypotree.tui.app import HypotreeApp
from hypotree.tui.commands import COMMANDS, help_lines, key_text
from hypotree.tui.memory import recall, state_home

SIZES = [(80, 24), (120, 40), (50, 24), (40, 12), (200, 60)]


@ui
async def test_everything_of_a_session_is_in_sight(proven: World) -> None:
    async with sitting(proven.session, (120, 32)) as seat:
        text = seat.text()
        for part in (
            "symptom: almost no draft token", "! H1 confirmed", ". H2 untested", "1 Evidence",
            "evidence-sealed", "Help",
        ):  # fmt: skip
            assert part in text, part


@pytest.mark.parametrize("size", SIZES, ids=str)
@ui
async def test_tree_and_detail_are_seen_at_every_size(proven: World, size: tuple[int, int]) -> None:
    async with sitting(proven.session, size) as seat:
        await seat.select("H1")
        text = seat.text()
        assert "H1 confirmed" in text
        assert "Evidence" in text
        assert all(len(row) <= size[0] for row in text.splitlines())


@ui
async def test_a_resize_keeps_the_node_and_the_text(proven: World) -> None:
    async with sitting(proven.session, (120, 40)) as seat:
        await seat.select("H2")
        for size in SIZES:
            await seat.pilot.resize_terminal(*size)
            await seat.pilot.pause(0.1)
            assert seat.node == "H2"
            assert "H2 untested" in seat.text()


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light"])
@ui
async def test_every_theme_shows_the_words(proven: World, theme: str) -> None:
    async with sitting(proven.session) as seat:
        seat.bench.set_theme(theme)
        await seat.pilot.pause()
        assert "H1 confirmed" in seat.text()
        assert seat.app.export_screenshot().startswith("<svg")


@ui
async def test_without_colour_the_cursor_and_the_verdicts_are_still_there(
    proven: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with sitting(proven.session) as seat:
        await seat.select("H1")
        rows = seat.text().splitlines()
        (row,) = [row for row in rows if "H1 confirmed" in row]
        assert row.startswith(">")


@ui
async def test_the_footer_names_what_fits_the_node(proven: World) -> None:
    async with sitting(proven.session, (120, 32)) as seat:
        await seat.select("H1")
        assert "Apply" in seat.text().splitlines()[-1]
        await seat.select("symptom")
        assert "Apply" not in seat.text().splitlines()[-1]


@ui
async def test_help_names_every_command(proven: World) -> None:
    async with sitting(proven.session, (120, 60)) as seat:
        await seat.press("question_mark")
        assert seat.screen == "Reading"
        assert "run the probe of this node" in seat.text()
        await seat.press("escape")
        assert seat.screen == "Bench"
    text = "\n".join(line.text for line in help_lines())
    for command in COMMANDS.values():
        assert command.about in text
        assert key_text(command.keys) in text


@ui
async def test_the_palette_runs_a_command_by_its_name(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.press("ctrl+p")
        await seat.write("all keys")
        await seat.pilot.pause(0.5)
        await seat.press("enter")
        await seat.until(lambda: seat.screen == "Reading")


@ui
async def test_the_palette_offers_every_command_that_applies(proven: World) -> None:
    from hypotree.tui.palette import CommandProvider

    async with sitting(proven.session) as seat:
        await seat.select("H1")
        provider = CommandProvider(seat.bench)
        offered = {hit.text or str(hit.display) async for hit in provider.discover()}
        usable = [c for c in COMMANDS.values() if c.when(seat.bench)]
        assert len(offered) == len(usable) > 30


@ui
async def test_tabs_by_key_and_by_mouse(proven: World) -> None:
    async with sitting(proven.session, (120, 32)) as seat:
        await seat.select("H1")
        for key, says in (("2", "fix: restore-tensor"), ("3", "map.safetensors"),
                          ("4", "No trace is attached"), ("5", "No notes")):  # fmt: skip
            await seat.press(key)
            await seat.until(lambda says=says: says in seat.bench.detail.text())
        await seat.pilot.click("#evidence")
        await seat.until(lambda: "What it rests on" in seat.bench.detail.text())


@ui
async def test_artifacts_say_what_changed_since(proven: World) -> None:
    async with sitting(proven.session, (120, 32)) as seat:
        await seat.select("H1")
        await seat.press("3")
        await seat.until(lambda: "read as draft" in seat.bench.detail.text())
        proven.plant(__import__("hypotree_probes.planting", fromlist=["ids"]).ids([9] * 8))
        await seat.press("f5")
        await seat.until(lambda: "changed since: d2t" in seat.bench.detail.text())
        assert "H1 stale" in seat.text()


@ui
async def test_vim_keys_and_arrows_move_fold_and_unfold(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.press("j", "j")
        assert seat.node == "H2"
        await seat.press("h")
        assert seat.node == "H1"
        await seat.press("left")
        assert "H2" not in seat.text().split("▔")[0].replace("H2  d2t", "")
        await seat.press("right", "l")
        assert seat.node == "H2"
        await seat.press("g")
        assert seat.node == "symptom"
        await seat.press("G", "k", "space")
        assert seat.node == "H1"
        assert len(seat.bench.tree_view.outline.rows) == 2


@ui
async def test_the_mouse_selects_folds_and_opens(proven: World) -> None:
    async with sitting(proven.session) as seat:
        top = seat.bench.tree_view.region.y
        await seat.pilot.click("#tree", offset=(12, 2))
        assert (seat.node, top > 0) == ("H2", True)
        await seat.pilot.click("#tree", offset=(3, 1))
        assert len(seat.bench.tree_view.outline.rows) == 2
        await seat.pilot.click("#tree", offset=(12, 1), times=2)
        assert seat.app.focused is seat.bench.detail


@ui
async def test_search_goes_round_the_matches(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.press("slash")
        await seat.write("map")
        await seat.press("enter")
        await seat.until(lambda: seat.bench.found)
        assert seat.bench.found == ("H1", "H2")
        await seat.press("n")
        assert seat.node == "H2"
        await seat.press("n")
        assert seat.node == "H1"
        await seat.press("N")
        assert seat.node == "H2"


@ui
async def test_escape_from_a_search_keeps_what_was_typed(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.press("slash")
        await seat.write("absol")
        await seat.press("escape", "slash")
        assert seat.app.focused.value == "absol"


@ui
async def test_a_filter_shows_one_standing_with_what_is_above(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.press("f")
        await seat.write("untested")
        await seat.press("enter")
        await seat.until(lambda: seat.bench.filter == "untested")
        assert [r.node for r in seat.bench.tree_view.outline.rows] == ["symptom", "H1", "H2"]
        await seat.press("f")
        await seat.write("confirmed")
        await seat.press("enter")
        await seat.until(lambda: seat.bench.filter == "confirmed")
        assert [r.node for r in seat.bench.tree_view.outline.rows] == ["symptom", "H1"]


@ui
async def test_back_and_forward(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.select("H1")
        await seat.select("H2")
        await seat.press("left_square_bracket")
        assert seat.node == "H1"
        await seat.press("right_square_bracket")
        assert seat.node == "H2"


@ui
async def test_marks(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.select("H2")
        await seat.press("m", "x")
        await seat.select("symptom")
        await seat.press("apostrophe", "x")
        assert seat.node == "H2"


@ui
async def test_an_event_leads_to_its_node(proven: World) -> None:
    async with sitting(proven.session) as seat:
        seat.bench.journal.focus()
        await seat.press("G", "enter")
        assert seat.node == "H1"


@ui
async def test_zoom_shows_one_pane_and_comes_back(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.press("z")
        assert "Evidence" not in seat.text()
        await seat.press("z")
        assert "Evidence" in seat.text()


@ui
async def test_how_it_was_left_is_remembered_outside_the_session(proven: World) -> None:
    files = sorted(os.listdir(proven.session))
    async with sitting(proven.session) as seat:
        await seat.select("H2")
        await seat.press("2")
        await seat.press("m", "q")
        seat.bench.set_theme("nord")
    left = recall(proven.session)
    assert (left.node, left.tab, left.marks, left.theme) == ("H2", "fix", {"q": "H2"}, "nord")
    async with sitting(proven.session) as seat:
        await seat.pilot.pause(0.2)
        assert (seat.node, seat.bench.tab) == ("H2", "fix")
    assert sorted(os.listdir(proven.session)) == files
    assert list(state_home().iterdir())


@ui
async def test_what_another_process_does_is_seen_within_half_a_second(proven: World) -> None:
    other = proven.open(AGENT)
    async with sitting(proven.session) as seat:
        await seat.pilot.pause(0.3)
        other.note("H2", "said by an agent")
        written = time.monotonic()
        await seat.until(lambda: "said by an agent" in seat.text())
        took = time.monotonic() - written
        assert took < 0.5 + 2.0  # the machine may be busy; the bench prints the figure
        assert "agent codex" in seat.text()


@ui
async def test_a_file_that_changes_makes_its_node_stale_by_itself(proven: World) -> None:
    async with sitting(proven.session) as seat:
        proven.plant(__import__("hypotree_probes.planting", fromlist=["ids"]).ids([9] * 8))
        await seat.until(lambda: "H1 stale" in seat.text())


@ui
async def test_a_changed_session_yaml_is_taken_in_while_the_screen_is_open(proven: World) -> None:
    async with sitting(proven.session) as seat:
        proven.document["hypotheses"]["H1"]["claim"] = "said otherwise in the file"
        proven.declare()
        await seat.until(
            lambda: "said otherwise in the file" in seat.bench.tree_view.line_at(1).text
        )


@pytest.mark.parametrize(
    ("key", "field"), [("slash", "#search"), ("a", "#field-claim"), ("i", "#field-text"), ("f", "")]
)
@ui
async def test_what_is_typed_is_seen(proven: World, key: str, field: str) -> None:
    async with sitting(proven.session) as seat:
        await seat.select("H1")
        await seat.press(key)
        if field:
            seat.app.screen.query_one(field).focus()
        await seat.press("q", "x", "z")
        await seat.pilot.pause(0.1)
        assert "qxz" in seat.text()


@ui
async def test_the_name_that_is_typed_to_agree_is_seen(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.select("H1")
        await seat.press("A")
        await seat.until(lambda: seat.screen == "Confirm")
        await seat.press("q", "x", "z")
        assert "qxz" in seat.text()


@ui
async def test_a_broken_journal_is_said_at_the_top(proven: World) -> None:
    text = proven.journal.read_text()
    proven.journal.write_text(text.replace("d2t is not the map of training", "d2t is fine"))
    async with sitting(proven.session) as seat:
        assert "JOURNAL BROKEN" in seat.text()


@ui
async def test_the_command_that_shows_the_same_is_copied_and_kept(proven: World) -> None:
    async with sitting(proven.session) as seat:
        await seat.select("H1")
        await seat.press("y")
        await seat.until(lambda: "hypotree probe run --session" in seat.told())
    assert "H1" in (state_home() / "copied.txt").read_text()


@ui
async def test_without_a_session_recent_ones_are_offered(proven: World) -> None:
    async with sitting(proven.session):
        pass
    app = HypotreeApp(None, TUI)
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.pause(0.3)
        text = "\n".join(s.text for s in app.screen._compositor.render_strips())
        assert str(proven.session) in text
        await pilot.press("G", "enter")
        await pilot.pause(0.3)
        assert type(app.screen).__name__ == "Bench"


@ui
async def test_a_session_is_begun_from_what_one_has(proven: World, tmp_path: Path) -> None:
    app = HypotreeApp(None, TUI)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause(0.2)
        await pilot.press("n")
        form = app.screen
        for name, value in (("folder", tmp_path / "fresh"), ("draft", proven.draft.parent),
                            ("log", proven.log)):  # fmt: skip
            form.query_one(f"#field-{name}").value = str(value)
        await pilot.press("ctrl+s")
        for _ in range(100):
            await pilot.pause(0.05)
            if type(app.screen).__name__ == "Bench":
                break
        assert type(app.screen).__name__ == "Bench"
    first = json.loads((tmp_path / "fresh" / "journal.jsonl").read_text().splitlines()[0])
    assert first["actor"] == {"kind": "cli", "name": "tui"}
