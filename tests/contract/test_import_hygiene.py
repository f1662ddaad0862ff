"""Fast commands import nothing slow: a linter cannot see a deferred import, a process can."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCER = ROOT / "tests" / "cases" / "producers" / "speculators-0.9.0-llama"
SLOW = {"torch", "numpy", "networkx", "textual", "rich", "mcp", "yaml", "importlib.metadata"}


#: Programs, and the module that exists so that yaml is imported only when there is YAML.
LATE = {"hypotree.__main__", "hypotree.probe.worker", "hypotree.artifact.yaml_document"}


def imported_by(*argv: str) -> set[str]:
    code = (
        "import sys, atexit, runpy\n"
        f"sys.argv = ['hypotree', *{list(argv)!r}]\n"
        "def show():\n"
        "    sys.stderr.write('MODULES ' + ' '.join(sorted(sys.modules)))\n"
        "atexit.register(show)\n"
        "runpy.run_module('hypotree', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return set(done.stderr.rpartition("MODULES ")[2].split())


def test_the_version_is_told_without_a_single_import_of_ours() -> None:
    modules = imported_by("--version")
    assert {m for m in modules if m.startswith("hypotree.")} == set()
    assert "click" not in modules


@pytest.mark.parametrize(
    "argv",
    [
        ("--help",),
        ("probe", "run", "d2t-format", "--draft", str(PRODUCER)),
        ("probe", "run", "file-integrity", "--draft", str(PRODUCER)),
    ],
    ids=["help", "d2t verdict", "file verdict"],
)
def test_a_fast_command_imports_nothing_slow(argv: tuple[str, ...]) -> None:
    assert imported_by(*argv) & SLOW == set()


def test_a_d2t_verdict_loads_no_other_probe() -> None:
    modules = imported_by("probe", "run", "d2t-format", "--draft", str(PRODUCER))
    assert not {m for m in modules if "param_coverage" in m or "aux_width" in m}


def test_the_core_never_imports_torch_or_networkx_at_import_time() -> None:
    code = (
        "import sys, pkgutil, importlib, hypotree\n"
        f"LATE = {LATE!r}\n"
        "for m in pkgutil.walk_packages(hypotree.__path__, 'hypotree.'):\n"
        "    if m.name not in LATE:\n"
        "        importlib.import_module(m.name)\n"
        "print(' '.join(sorted({'torch', 'networkx', 'numpy', 'yaml'} & set(sys.modules))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
