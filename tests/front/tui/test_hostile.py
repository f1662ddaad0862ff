"""Data is never markup: whatever a file, a claim or an agent says shows as itself."""

from __future__ import annotations

import unicodedata

import pytest
from front.tui.seat import sitting, ui
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import AGENT, REPAIR, World
from rich.cells import cell_len

from hypotree.tui.lines import BLANK, Line, Span, columns, line, said
from hypotree.tui.wrapping import wrap

NASTY = [
    "[/]", "[red]x[/red]", "[link=file:///etc]x[/link]", "[@click=app.quit]x[/]", "\x1b[31mred",
    "\x1b]52;c;AAAA\a", "a\nb\r\nc", "z\u200bero\u200dwidth", "\u202eright to left\u202c",
    "tab\there", "\x00nul", "\x9b31m", "e\u0301 combining", "漢字 wide", "$variable ${x}", "\\[b]",
    "lone \ud800 surrogate", "{x!r}", "%s %d", "👩\u200d👩\u200d👧",
]  # fmt: skip
VISIBLE = ["[/]", "[red]x[/red]", r"\x1b[31mred", r"a\x0ab\x0d\x0ac", r"z\u200bero", r"\u202eright"]


def is_quiet(text: str) -> bool:
    """No character of it moves the cursor, hides, or turns the text around."""
    return all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in text)


anything = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(NASTY)


@given(st.lists(anything, max_size=6), st.integers(1, 60))
@settings(max_examples=300, deadline=None)
def test_a_line_of_anything_is_quiet_and_fits_after_wrapping(texts: list[str], width: int) -> None:
    made = line(*(said(text) for text in texts), indent=3)
    rows = wrap(made, width)
    assert is_quiet(made.text)
    for row in rows:
        wide = max((cell_len(c) for c in row.text), default=0)
        assert cell_len(row.text) <= max(width, wide + min(3, max(width - 8, 0)))
    shown = "".join(row.text for row in rows).replace(" ", "")
    assert shown == made.text.replace(" ", "")


@given(st.lists(st.lists(anything, min_size=2, max_size=2), max_size=5))
@settings(max_examples=100, deadline=None)
def test_tables_of_anything_are_quiet(rows: list[list[str]]) -> None:
    assert all(is_quiet(found.text) for found in columns(("a", "b"), rows))


def test_an_empty_line_wraps_to_itself() -> None:
    assert wrap(BLANK, 10) == [BLANK]
    assert wrap(Line((Span("x"),)), 1)[0].text == "x"


@ui
async def test_claims_notes_and_rows_show_as_themselves(world: World) -> None:
    hypotheses = {
        f"H{i}": {**REPAIR, "claim": text.replace("\ud800", "?").replace("\x00", "0") + " x"}
        for i, text in enumerate(NASTY, 1)
        if "\x1b" not in text and "\x9b" not in text
    }
    world.declare(**hypotheses)
    agent = world.open(AGENT)
    for text in NASTY:
        agent.note("symptom", text.replace("\ud800", "?"))
    async with sitting(world.session, (150, 60)) as seat:
        for tab in ("1", "2", "3", "5"):
            await seat.press(tab)
            await seat.pilot.pause(0.2)
            assert is_quiet(seat.text().replace("\n", ""))
        text = seat.text()
        for part in VISIBLE:
            assert part in text, part
        for node in list(hypotheses)[:4]:
            await seat.select(node)
            await seat.press("1")
            await seat.pilot.pause(0.1)
            assert is_quiet(seat.text().replace("\n", ""))


@pytest.mark.parametrize("text", ["[red]x[/red] [/]", "\x1b[31mred\n\u202eleft"])
@ui
async def test_questions_and_messages_show_data_as_itself(world: World, text: str) -> None:
    from hypotree.tui.screens.pick import Choice

    async with sitting(world.session, (120, 40), toasts=True) as seat:
        bench, shown = seat.bench, "[red]x[/red] [/]" if text[0] == "[" else r"\x1b[31mred\x0a"
        bench.tell(text)
        await seat.pilot.pause(0.3)
        assert shown in seat.text()
        bench.say(text)
        await seat.pilot.pause(0.1)
        assert seat.text().count(shown) >= 2
        bench.pick(text, [Choice("v", text, text)], print)
        await seat.pilot.pause(0.2)
        assert seat.text().count(shown) >= 3
        await seat.press("escape")
        bench.confirm(text, text, (line(said(text)),), print)
        await seat.pilot.pause(0.2)
        assert seat.text().count(shown) >= 3
        assert is_quiet(seat.text().replace("\n", ""))
