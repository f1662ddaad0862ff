"""What is shipped is what is in the tree."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def git(*argv: str) -> list[str]:
    done = subprocess.run(["git", *argv], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path).namelist()


def test_no_tracked_file_is_ignored_and_so_missing_from_the_wheel() -> None:
    assert git("ls-files", "--cached", "--ignored", "--exclude-standard") == []


def test_every_module_is_in_the_wheel(wheel: list[str]) -> None:
    tracked = [p for p in git("ls-files", "hypotree", "probes") if not (ROOT / p).is_symlink()]
    missing = [p for p in tracked if p.removeprefix("probes/") not in wheel]
    assert missing == []


def test_the_demos_data_is_in_the_wheel(wheel: list[str]) -> None:
    data = {p.rpartition("/")[2] for p in wheel if p.startswith("hypotree_probes/incident/files/")}
    assert data >= {"session.yaml", "incident_weights.safetensors"}


def test_nothing_else_is_in_the_wheel(wheel: list[str]) -> None:
    tops = {p.partition("/")[0] for p in wheel if ".dist-info" not in p}
    assert tops == {"hypotree", "hypotree_probes"}


def test_the_top_level_holds_only_what_the_design_names() -> None:
    allowed = {
        "pyproject.toml", "hypotree", "probes", "sessions", "tests", "README.md", "CHANGELOG.md",
        "LICENSE", "Makefile", "constraints.txt", "docs", ".ci", ".gitignore",
    }  # fmt: skip
    assert {path.partition("/")[0] for path in git("ls-files")} <= allowed


def test_no_module_is_longer_than_can_be_lived_in() -> None:
    lengths = {p: len((ROOT / p).read_text().splitlines()) for p in git("ls-files", "*.py")}
    modules = {p: n for p, n in lengths.items() if p.startswith(("hypotree/", "probes/"))}
    assert {p: n for p, n in modules.items() if n > 300} == {}


def test_no_two_test_modules_share_a_name() -> None:
    """pytest imports them by their bare names: the second one would not be collected."""
    names = [Path(p).name for p in git("ls-files", "tests") if Path(p).name.startswith("test_")]
    assert sorted({n for n in names if names.count(n) > 1}) == []
