"""Demos, made in a folder to be explored by hand."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from hypotree.errors import MisuseError, UnknownNameError
from hypotree.model.story import Story
from hypotree.probe.entry_points import entry_points

DEMO_GROUP = "hypotree.demos"


def make_demo(folder: Path) -> Path:
    """Write the first demo's artifacts and session into a new or empty folder; none of it is played."""
    if folder.exists() and any(folder.iterdir()):
        raise MisuseError(f"making the demo in {folder}", "the folder is not empty")
    known = entry_points(DEMO_GROUP)
    if not known:
        raise UnknownNameError("making the demo", "no installed distribution declares one")
    module, _, attribute = known[min(known)].partition(":")
    story: Story = getattr(import_module(module), attribute)
    folder.mkdir(parents=True, exist_ok=True)
    story.make(folder)
    return folder
