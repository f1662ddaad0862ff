"""An engine that breaks, hangs, writes or connects: a clear verdict, nothing written, no hang."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from probes.engines.engine_kit import probe, tiny_draft

from hypotree.model.evidence import Evidence
from hypotree.sandbox.landlock import abi_version
from hypotree_probes.engines import coverage_facts
from hypotree_probes.engines.asking import ask_about_draft
from hypotree_probes.engines.tiny import plant_engine
from hypotree_probes.engines.tiny.package import MODEL_FILE

_FIRST = "\nimport torch\n"


def coverage(folder: Path, code: str) -> Evidence:
    """param-coverage with a line put in front of the small engine's model file."""
    spec = plant_engine(folder, {MODEL_FILE: (_FIRST, f"\n{code}\nimport torch\n")})
    return probe("param-coverage", draft=tiny_draft(folder), engine=spec)


def only(evidence: Evidence) -> tuple[str, str]:
    """The one verdict and reason that all codes have."""
    assert {f.authority for f in evidence.findings} == {"none"}
    ((verdict, why),) = {(str(f.verdict), f.why) for f in evidence.findings}
    return verdict, why


def test_a_syntax_error_is_named_with_its_line(tmp_path: Path) -> None:
    verdict, why = only(coverage(tmp_path, "def broken(:"))
    assert verdict == "inconclusive"
    assert "SyntaxError" in why
    assert "srt/models/llama_eagle3.py:2" in why


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    verdict, why = only(coverage(tmp_path, "import a_package_that_is_nowhere"))
    assert verdict == "inconclusive"
    assert "a_package_that_is_nowhere" in why


def test_a_module_that_the_tree_lacks_is_named(tmp_path: Path) -> None:
    verdict, why = only(coverage(tmp_path, "from sglang.srt.nothing_here import x"))
    assert verdict == "inconclusive"
    assert "sglang.srt.nothing_here" in why


@pytest.mark.parametrize("how", ["os.kill(os.getpid(), 9)", "os._exit(3)"])
def test_a_process_that_ends_without_an_answer_is_invalid(tmp_path: Path, how: str) -> None:
    verdict, why = only(coverage(tmp_path, f"import os; {how}"))
    assert verdict == "invalid"
    assert "without an answer" in why


def test_one_that_hangs_is_ended_at_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def soon(*arguments: object, **options: object) -> object:
        return ask_about_draft(*arguments, **options, seconds=8.0)

    monkeypatch.setattr(coverage_facts, "ask_about_draft", soon)
    started = time.monotonic()
    verdict, why = only(coverage(tmp_path, "import time; time.sleep(1000)"))
    assert time.monotonic() - started < 30
    assert verdict == "invalid"
    assert "no answer within 8 seconds" in why


@pytest.mark.skipif(not abi_version(), reason="this kernel has no Landlock")
def test_one_that_writes_is_stopped_and_nothing_is_written(tmp_path: Path) -> None:
    target = tmp_path / "stolen"
    verdict, why = only(coverage(tmp_path, f"open({str(target)!r}, 'w').write('x')"))
    assert verdict == "inconclusive"
    assert "PermissionError" in why
    assert not target.exists()


@pytest.mark.skipif(abi_version() < 4, reason="network rules came with Landlock ABI 4")
def test_one_that_connects_is_stopped(tmp_path: Path) -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    verdict, why = only(coverage(tmp_path, code))
    assert verdict == "inconclusive"
    assert "PermissionError" in why


def test_what_it_prints_is_no_answer(tmp_path: Path) -> None:
    evidence = coverage(tmp_path, "print('{}' * 1000); import sys; sys.stdout.flush()")
    assert {str(f.verdict) for f in evidence.findings} == {"refuted"}


def test_one_that_asks_a_stub_for_its_truth_is_left_undecided(tmp_path: Path) -> None:
    code = "from transformers import PretrainedConfig\nif PretrainedConfig.flag: pass"
    evidence = coverage(tmp_path, code)
    # No rule file speaks for the small engine's release, and the run could not tell.
    assert {f.authority for f in evidence.findings} <= {"none", "heuristic"}
    assert "transformers.PretrainedConfig.flag" in str(evidence.summary + evidence.findings[0].why)
