"""A command as a probe: the contract of exit codes, bounds, freshness, and its place in a session."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hypotree.errors import MisuseError
from hypotree.model.declaration import CommandProbe, Taken
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe.canary import run_canary
from hypotree.probe.command import command_class
from hypotree.probe.registry import code_digest, probe_class, register_command
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
from hypotree.session.yaml_file import read_declaration

SUBJECT = {"log": Taken("log", Role.SUBJECT)}
WITH_TRUTH = {**SUBJECT, "right": Taken("log", Role.TRUTH)}


def command(folder: Path, body: str, takes=SUBJECT, **more):
    """A registered command that runs `body` with the question as `asked`."""
    script = folder / "check.py"
    head = "import json, sys, time\nasked = json.load(sys.stdin)\n"
    script.write_text(head + textwrap.dedent(body))
    words = (sys.executable, "check.py")
    made = command_class("mine", CommandProbe(words, "user.odd", takes, **more), folder)
    register_command(made)
    return made


def ask(folder: Path, **files: str):
    bound = []
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
        role = Role.SUBJECT if name == "log" else Role.TRUTH
        bound.append(BoundInput(name, "log", role, str(folder / f"{name}.log")))
    return run_probe(ProbeRun("mine", tuple(bound), {"level": 3}))


@pytest.mark.parametrize(
    ("code", "verdict"),
    [(0, Verdict.REFUTED), (1, Verdict.CONFIRMED), (125, Verdict.INCONCLUSIVE), (2, Verdict.INVALID),
     (126, Verdict.INVALID)],
)  # fmt: skip
def test_exit_codes(tmp_path, code, verdict):
    command(tmp_path, f"print('because'); sys.exit({code})")
    found = ask(tmp_path, log="x").findings[0]
    assert (found.fault, found.verdict) == ("user.odd", verdict)
    assert "because" in found.why


def test_a_signal_is_invalid(tmp_path):
    command(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert ask(tmp_path, log="x").findings[0].verdict is Verdict.INVALID


def test_it_is_told_what_it_is_asked(tmp_path):
    command(
        tmp_path,
        """
        at = asked["inputs"]["log"]
        text = open(at["path"]).read()
        print(asked["fault"], at["kind"], at["role"], asked["params"]["level"], text)
    """,
    )
    assert ask(tmp_path, log="hello").findings[0].why == "user.odd log subject 3 hello"


def test_without_a_truth_it_is_a_guess(tmp_path):
    command(tmp_path, "sys.exit(1)")
    assert ask(tmp_path, log="x").findings[0].authority is Authority.HEURISTIC


def test_with_a_truth_it_may_open_the_gate(tmp_path):
    command(tmp_path, "sys.exit(1)", WITH_TRUTH)
    found = ask(tmp_path, log="x", right="y").findings[0]
    assert (found.authority, found.truth) == (Authority.SOURCE_OF_TRUTH, ("right",))


def test_its_output_is_bounded_and_made_plain(tmp_path):
    command(
        tmp_path,
        r"""
        for _ in range(400):
            print("x" * 10_000)
        print("\x1b[2Jodd\u202e")
        sys.exit(1)
    """,
    )
    found = ask(tmp_path, log="x").findings[0]
    assert found.why == r"\x1b[2Jodd\u202e"


def test_a_command_beyond_its_time_is_killed_with_its_children(tmp_path):
    command(tmp_path, """
        import subprocess
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        time.sleep(60)
    """, time_limit=1.0)  # fmt: skip
    evidence = ask(tmp_path, log="x")
    assert evidence.findings[0].verdict is Verdict.INVALID
    assert "no end within 1 s" in evidence.findings[0].why and evidence.seconds < 20


def test_a_command_that_is_not_there_is_misuse(tmp_path):
    words = CommandProbe(("/nowhere/at/all",), "user.odd", SUBJECT)
    register_command(command_class("mine", words, tmp_path))
    with pytest.raises(MisuseError):
        ask(tmp_path, log="x")


def test_every_file_of_its_inputs_counts_as_read(tmp_path):
    command(tmp_path, "sys.exit(0)")
    reads = ask(tmp_path, log="x").inputs[0].read
    assert [(r.kind, r.name) for r in reads] == [("file", "log.log")]


def test_an_edited_script_is_another_probe(tmp_path):
    made = command(tmp_path, "sys.exit(0)")
    before = code_digest(made)
    (tmp_path / "check.py").write_text("raise SystemExit(1)")
    assert code_digest(made) != before


def test_its_planted_and_healthy_inputs_show_that_it_can_fail(tmp_path):
    for name, text in (("planted", "bad"), ("healthy", "good")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.txt").write_text(text)
        (tmp_path / name / "right.txt").write_text("good")
    made = command(tmp_path, """
        texts = [open(asked["inputs"][n]["path"]).read() for n in ("log", "right")]
        sys.exit(texts[0] != texts[1])
    """, WITH_TRUTH, planted="planted", healthy="healthy")  # fmt: skip
    assert run_canary(made).shown == ("user.odd",)
    blind = command(tmp_path, "sys.exit(1)", WITH_TRUTH, planted="planted", healthy="healthy")
    assert run_canary(blind).shown == ()


def test_an_installed_probes_name_is_not_to_be_had(tmp_path):
    made = command_class("d2t-format", CommandProbe(("true",), "user.odd", SUBJECT), tmp_path)
    with pytest.raises(MisuseError, match="an installed distribution"):
        register_command(made)


YAML = """
hypotree: 1
symptom: nothing is accepted
artifacts:
  log: {path: server.log, role: subject}
hypotheses:
  H1: {claim: the log is odd, fault: user.odd, probe: odd-log, inputs: {log: log}}
probes:
  odd-log:
    command: [sh, -c, "grep -q odd server.log && exit 1 || exit 0"]
    fault: user.odd
    takes: {log: log}
"""


def test_a_session_declares_it_and_runs_it(tmp_path):
    (tmp_path / "session.yaml").write_text(YAML)
    (tmp_path / "server.log").write_text("this is odd\n")
    declaration, _ = read_declaration(tmp_path)
    assert declaration.probes["odd-log"].takes == {"log": Taken("log")}
    assert probe_class("odd-log").name == "odd-log"
    done = subprocess.run(
        [sys.executable, "-m", "hypotree", "probe", "run", "--session", tmp_path, "H1", "--json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3, done.stderr  # a guess: it has no truth
    assert json.loads(done.stdout)["findings"][0]["verdict"] == "confirmed"


@pytest.mark.parametrize(
    "wrong", ["fault: d2t.absolute-ids", "fault: user.Odd", "verdict: confirmed", "time_limit: -1"]
)
def test_a_declaration_that_claims_more_is_refused(tmp_path, wrong):
    text = YAML.replace("    fault: user.odd\n    takes", f"    {wrong}\n    takes")
    (tmp_path / "session.yaml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "hypotree", "show", tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 2, done.stdout
