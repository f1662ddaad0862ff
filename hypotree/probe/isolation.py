"""Run a probe in a process of its own: what loads models can be stopped and gives its memory back."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

from hypotree.errors import MisuseError, UnreadableError
from hypotree.model.evidence import Evidence
from hypotree.model.wire import canonical_json, decode
from hypotree.probe.registry import code_digest, probe_class
from hypotree.probe.runner import ProbeRun, invalid_findings, run_here

_OK, _UNREADABLE, _MISUSE = b"E", b"U", b"M"
_GRACE_SECONDS = 5.0


def run_isolated(run: ProbeRun) -> Evidence:
    """Run a probe in a worker; a worker that dies or overstays makes its findings INVALID."""
    probe = probe_class(run.probe)
    limit = run.time_limit or probe.time_limit
    try:
        done = subprocess.run(
            # -P: nothing is imported from the folder that the user happens to stand in.
            [sys.executable, "-P", "-m", "hypotree.probe.worker"],
            input=pickle.dumps(run),
            capture_output=True,
            timeout=limit + _GRACE_SECONDS,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
    except subprocess.TimeoutExpired:
        return _invalid(run, f"its worker did not end within {limit:.0f} seconds")
    tag, text = done.stdout[:1], done.stdout[1:]
    if tag == _OK:
        return decode(text, Evidence, "the worker's evidence")
    if tag in {_UNREADABLE, _MISUSE}:
        asked, found, next_step = text.decode().split("\0")
        raise (UnreadableError if tag == _UNREADABLE else MisuseError)(asked, found, next_step)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
    return _invalid(run, f"its worker ended with status {done.returncode}: {said[0]}")


def answer(run: ProbeRun) -> bytes:
    """What the worker writes to its stdout: a tag, then evidence or an error's three parts."""
    try:
        return _OK + canonical_json(run_here(run))
    except (UnreadableError, MisuseError) as error:
        tag = _UNREADABLE if isinstance(error, UnreadableError) else _MISUSE
        return tag + "\0".join([error.asked, error.found, error.next_step]).encode()


def _invalid(run: ProbeRun, why: str) -> Evidence:
    probe = probe_class(run.probe)
    return Evidence(
        schema="hypotree.evidence/1",
        probe=probe.name,
        version=probe.version,
        code_sha256=code_digest(probe),
        inputs=(),
        findings=invalid_findings(probe, why),
        seconds=0.0,
        params=dict(run.params),
        hypothesis=run.hypothesis,
    )
