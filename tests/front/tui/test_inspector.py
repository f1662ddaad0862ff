"""The inspector: headers at once, bytes when asked, two beside each other."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from front.command import hypotree, hypotree_json
from front.tui.seat import TUI, ui
from textual.pilot import Pilot

from hypotree.artifact import files
from hypotree.tui.app import HypotreeApp
from hypotree.tui.inspecting.source import open_source
from hypotree.tui.screens.inspector import Inspector
from hypotree_probes.planting import blank, ids, plant_checkpoint, safetensors_bytes


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    return Path(
        plant_checkpoint(
            tmp_path,
            {"d2t": ids([0, 1, 3, -7]), "fc.weight": blank("BF16", 8, 4), "[red]x": ids([1])},
            {"vocab_size": 64, "name": "[/]"},
        )
    )


@asynccontextmanager
async def inspecting(path: Path, other: str = "") -> AsyncIterator[tuple[Inspector, Pilot[None]]]:
    screen = Inspector(str(path), other)
    app = HypotreeApp(None, TUI, screen)
    async with app.run_test(size=(110, 50)) as pilot:
        await until(pilot, lambda: screen.tensors.is_read)
        yield screen, pilot


async def until(pilot: Pilot[None], holds: object, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end
        await pilot.pause(0.02)
    await pilot.pause(0.05)


def shown(pilot: Pilot[None]) -> str:
    return "\n".join(s.text for s in pilot.app.screen._compositor.render_strips())


@ui
async def test_tensors_files_and_config_are_shown_from_the_header_alone(
    draft: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = [0]
    real = files.DiskFile.read

    def count(self: files.DiskFile, offset: int, length: int) -> bytes:
        read[0] += length
        return real(self, offset, length)

    (draft / "model.safetensors").write_bytes(
        safetensors_bytes({"big": blank("BF16", 1000, 1000), "d2t": ids([1])})
    )
    monkeypatch.setattr(files.DiskFile, "read", count)
    async with inspecting(draft) as (_, pilot):
        text = shown(pilot)
        assert "big  BF16 [1000, 1000]" in text
        assert "vocab_size" in text
        assert read[0] < 10_000


@ui
async def test_statistics_values_and_overview_come_by_key(draft: Path) -> None:
    async with inspecting(draft) as (screen, pilot):
        screen.tensors.go([r.name for r in screen.tensors.shown].index("d2t"))
        await pilot.press("s")
        await until(pilot, lambda: "d2t" in screen.known)
        found = screen.known["d2t"]
        assert (found.count, found.low, found.high, found.zero) == (4, -7.0, 3.0, 1)
        assert sum(found.histogram) == 4
        await pilot.press("v")
        await until(pilot, lambda: "-7" in screen.about.text())
        await pilot.press("c")
        await until(pilot, lambda: "Dtypes" in screen.about.text())
        assert "[/]" in shown(pilot)


@ui
async def test_names_narrow_by_words_and_show_as_themselves(draft: Path) -> None:
    async with inspecting(draft) as (screen, pilot):
        await pilot.press("slash")
        screen.query_one("#narrow").value = "red"
        await pilot.pause(0.1)
        assert [r.name for r in screen.tensors.shown] == ["[red]x"]
        assert "[red]x" in shown(pilot)


@ui
async def test_two_checkpoints_differ_by_name_layout_and_bytes(draft: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(draft, other)
    (other / "model.safetensors").write_bytes(
        safetensors_bytes({"d2t": ids([0, 1, 3, 7]), "fc.weight": blank("BF16", 4, 4)})
    )
    async with inspecting(draft, str(other)) as (screen, pilot):
        states = {p.name: p.state for p in screen.tensors.shown}
        assert states == {
            "[red]x": "only left",
            "fc.weight": "layout differs",
            "d2t": "same layout",
        }
        screen.tensors.go(2)
        await pilot.press("b")
        await until(pilot, lambda: "BYTES DIFFER" in shown(pilot))


@ui
async def test_a_file_that_is_none_is_told_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"\x01")
    app = HypotreeApp(None, TUI, Inspector(str(tmp_path / "x.safetensors")))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app._notifications)
        assert "x.safetensors" in next(iter(app._notifications)).message


@ui
async def test_seventy_thousand_tensors_are_listed_and_searched(tmp_path: Path) -> None:
    tensors = {f"layers.{i}.weight": blank("U8", 1) for i in range(70_000)}
    (tmp_path / "m.safetensors").write_bytes(safetensors_bytes(tensors))
    async with inspecting(tmp_path / "m.safetensors") as (screen, pilot):
        assert screen.tensors.count() == 70_000
        await pilot.press("G", "k")
        await pilot.press("slash")
        screen.query_one("#narrow").value = "layers.69999"
        await pilot.pause(0.1)
        assert screen.tensors.count() == 1


def test_without_a_terminal_it_prints(draft: Path) -> None:
    done = hypotree("inspect", str(draft))
    assert done.returncode == 0
    assert "fc.weight  BF16 [8, 4]  64 bytes" in done.stdout
    code, value = hypotree_json("inspect", str(draft))
    assert (code, value["schema"]) == (0, "hypotree.inspect/1")
    assert len(value["tensors"]) == 3
    _, one = hypotree_json("inspect", str(draft), "--tensor", "d2t")
    assert one["values"] == [0, 1, 3, -7]
    assert hypotree("inspect", str(draft), "--tensor", "none").returncode == 2
    _, pairs = hypotree_json("inspect", str(draft), str(draft), "--bytes")
    assert all(p["bytes_equal"] for p in pairs["tensors"])


def test_floats_that_json_has_not_are_words(tmp_path: Path) -> None:
    from hypotree.artifact.tensor import TensorValue

    nan = TensorValue("BF16", (3,), b"\xc0\x7f\x80\x7f\x80\x3f")
    (tmp_path / "m.safetensors").write_bytes(safetensors_bytes({"x": nan}))
    done = hypotree("inspect", str(tmp_path / "m.safetensors"), "--tensor", "x", "--json")
    value = json.loads(done.stdout)
    assert value["values"] == ["nan", "inf", 1.0]
    assert (value["statistics"]["nan"], value["statistics"]["infinite"]) == (1, 1)


def test_a_shard_is_named_for_each_tensor(draft: Path) -> None:
    assert {row.file for row in open_source(str(draft)).tensors} == {"model.safetensors"}
