"""Every command that the README shows is run, in order, and ends as the README says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import yaml
from front.command import hypotree

from hypotree.session.yaml_file import read_declaration

README = Path(__file__).parents[2] / "README.md"

#: What is confirmed or refused there; every other command ends with 0.
ENDS = {
    "hypotree diagnose": 1,
    "hypotree diff": 1,
    "hypotree tui": 2,  # a test has no terminal; tests/front/tui opens it in one
    "hypotree probe run param-coverage --draft incident/output_10k/4 --engine sglang@0.5.9": 1,
    "hypotree probe run aux-width": 1,
    "hypotree probe run acceptance-log": 1,
    "hypotree probe run --session my-session H1 H2": 1,
    "hypotree fix apply --session my-session H2": 4,
}


def shown_commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def test_every_command_in_the_readme_runs_as_shown(tmp_path: Path) -> None:
    commands = [line for line in shown_commands() if line.startswith("hypotree ")]
    assert len(commands) > 15
    for line in commands:
        done = hypotree(*shlex.split(line, comments=True)[1:], cwd=tmp_path)
        expected = next((code for start, code in ENDS.items() if line.startswith(start)), 0)
        assert done.returncode == expected, f"{line}\n{done.stdout}\n{done.stderr}"


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (README.parent / "Makefile").read_text()
    targets = set(re.findall(r"make ([a-z-]+)", README.read_text()))
    assert targets >= {"demo", "test"}
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_session_yaml_in_the_readme_is_one(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", README.read_text(), re.DOTALL)
    assert yaml.safe_load(block)["hypotree"] == 1
    (tmp_path / "session.yaml").write_text(block)
    declaration, _ = read_declaration(tmp_path)
    assert set(declaration.hypotheses) == {"H1", "H2"}
