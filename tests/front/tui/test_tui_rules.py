"""The rules of the product hold at the screen, too."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import pytest
from front.tui.seat import sitting, ui
from kit import World

import hypotree.tui
from hypotree.tui.commands import COMMANDS, GROUPS, Command
from hypotree.tui.screens.bench import Bench

ROOT = Path(hypotree.tui.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
#: What journals a verdict or makes a permit; none of it may be reached from here.
FORBIDDEN = {
    "EvidenceSealed(", "Evidence(", "Finding(", "run_probe", "admit(", "Permit(", "swap(",
    "os.replace", ".append_locked", "FixApplied(", "FixApproved(", "approve_plan(",
}  # fmt: skip


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_makes_a_verdict_a_permit_or_a_write(path: Path) -> None:
    source = path.read_text()
    found = [part for part in FORBIDDEN if part in source]
    allowed = {"EvidenceSealed("} if path.name == "records.py" else set()  # a pattern in a match
    allowed |= {"FixApplied("} if path.name == "records.py" else set()
    assert set(found) <= allowed, found


def test_no_command_takes_a_verdict() -> None:
    for command in COMMANDS.values():
        module, _, function = command.target.partition(".")
        found = getattr(import_module(f"hypotree.tui.actions.{module}"), function)
        assert list(inspect.signature(found).parameters) == ["bench"]
        assert not {"verdict", "standing", "status", "solved"} & set(
            inspect.signature(found).parameters
        )


def test_textual_is_imported_in_the_screens_only() -> None:
    """Content, board, desk, inspecting: `show --tree` and `inspect --json` need no textual."""
    code = (
        "import sys, hypotree.tui.content.whole, hypotree.tui.desk, hypotree.tui.inspecting.text, "
        "hypotree.tui.inspecting.statistics, hypotree.tui.job, hypotree.cli.session_text, "
        "hypotree.cli.inspect, hypotree.cli.tui\n"
        "print('textual' in sys.modules, 'networkx' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]


def test_textual_is_imported_nowhere_outside_the_tui() -> None:
    package = ROOT.parent
    for path in package.rglob("*.py"):
        if path.is_relative_to(ROOT):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(n.partition(".")[0] == "textual" for n in names), path


def test_the_app_and_the_bench_stay_small() -> None:
    for source in (ROOT / "app.py", ROOT / "screens" / "bench.py"):
        tree = ast.parse(source.read_text())
        sizes = [
            (n.end_lineno or 0) - n.lineno for n in ast.walk(tree) if isinstance(n, ast.ClassDef)
        ]
        assert max(sizes) <= 250, source


def keys_of(commands: Iterable[Command]) -> set[str]:
    return {key for c in commands for key in c.keys.split(",")} - {"q", "ctrl+e"}


@pytest.mark.parametrize(
    "keys",
    [
        keys_of(GROUPS["Fix"]),
        pytest.param(keys_of(COMMANDS.values()), marks=pytest.mark.slow),
    ],
    ids=["keys of fixes", "all keys"],
)
@ui
async def test_every_single_key_writes_no_file(proven: World, keys: set[str]) -> None:
    """A cat on the keyboard: each key, then enter, changes no artifact."""
    before = proven.draft.read_bytes(), proven.map.read_bytes(), proven.log.read_bytes()
    async with sitting(proven.session) as seat:
        for key in sorted(keys):
            await seat.select("H1")
            await seat.press(key, "enter")
            while not isinstance(seat.app.screen, Bench):
                await seat.press("escape")
        await seat.idle()
    assert (proven.draft.read_bytes(), proven.map.read_bytes(), proven.log.read_bytes()) == before
    events = [json.loads(x)["event"]["type"] for x in proven.journal.read_text().splitlines()]
    assert not {"fix-applied", "fix-approved", "artifact-approved", "swap-started"} & set(events)


@ui
async def test_a_probe_that_cannot_run_is_told_and_ends_nothing(world: World) -> None:
    world.log.unlink()
    async with sitting(world.session) as seat:
        await seat.press("S")
        await seat.until(lambda: "no such file" in seat.told())
        assert seat.screen == "Bench"
