"""A third party's probe package is built, installed and run like the bundled pack."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "packages" / "hypotree-tokenizer-probe"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The package, built by its own backend and installed into a folder of its own."""
    folder = tmp_path_factory.mktemp("third-party")
    source = shutil.copytree(
        PACKAGE, folder / "source"
    )  # so that no build output lands in the tree
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--disable-pip-version-check", "--target"]
    done = subprocess.run([*command, folder / "site", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment
    )


def test_it_is_listed_beside_the_bundled_probes(site):
    listed = json.loads(run(site, "-m", "hypotree", "probe", "list", "--json").stdout)
    assert listed["tokenizer-identity"] == ["tokenizer.differs"]
    assert "d2t-format" in listed


@pytest.mark.parametrize(("ids", "code"), [({"a": 1, "b": 0}, 1), ({"a": 0, "b": 1}, 0)])
def test_it_runs_from_the_command_line(site, tmp_path, ids, code):
    for name, words in (("draft", ids), ("target", {"a": 0, "b": 1})):
        (tmp_path / name).mkdir()
        text = json.dumps({"model": {"vocab": words}})
        (tmp_path / name / "tokenizer.json").write_text(text)
    given = [f"--{name}={tmp_path / name}" for name in ("draft", "target")]
    done = run(site, "-m", "hypotree", "probe", "run", "tokenizer-identity", *given, "--json")
    assert done.returncode == code, done.stderr
    evidence = json.loads(done.stdout)
    assert evidence["probe"] == "tokenizer-identity" and len(evidence["code_sha256"]) == 64


def test_its_own_tests_pass(site):
    tests = str(PACKAGE / "tests")
    done = run(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, tests)
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_it_the_probe_is_unknown(tmp_path):
    done = run(tmp_path, "-m", "hypotree", "probe", "show", "tokenizer-identity")
    assert done.returncode == 2 and "no installed distribution declares it" in done.stderr
