"""Put every case to `hypotree diagnose` and print what was found, missed and falsely alarmed.

    cd tests && python -m cases.table [CASE…]

Each case runs as a process of its own, with discovery on, in a folder that nothing else is in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cases import engines, faults, healthy, hostile, more, newcomers
from cases.case import TRUE, Case
from cases.hostile import MARKER

from hypotree.probe.registry import all_probes

CASES: tuple[Case, ...] = tuple(
    case for module in (faults, engines, healthy, more, newcomers, hostile) for case in module.CASES
)
#: What must have run before anything is called healthy (DESIGN section 9).
_HEALTHY_NEEDS = {"file-integrity", "tensor-health", "d2t-format"}
_SECONDS = 120
_EXIT = {"faulty": 1, "healthy": 0, "inconclusive": 3}


@dataclass
class Result:
    """One case, judged."""

    case: Case
    skipped: str = ""
    found: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong with it."""
        return not (self.missed or self.false or self.wrong)


def why_skipped(case: Case) -> str:
    """Why a case cannot be told by what is installed; "" if it can."""
    probes = all_probes()[0]
    decided = {fault.code for probe in probes.values() for fault in probe.decides}
    codes = [*case.confirmed, *case.verdicts]
    lacking = [f"no probe decides {code}" for code in codes if code not in decided]
    lacking += [f"probe {name} is not installed" for name in case.needs if name not in probes]
    return "; ".join(lacking)


Done = tuple[int, str, str]
Runner = Callable[..., Done]


def judge(case: Case, root: Path, run: Runner) -> Result:
    """Run one case in `root` and compare; `run` gives exit code, stdout and stderr."""
    result = Result(case, why_skipped(case))
    if result.skipped:
        return result
    folder = root / case.id / "run"
    folder.mkdir(parents=True)
    inputs = case.make(folder)
    argv = ["diagnose", inputs.draft]
    for name, value in inputs.given.items():
        argv += [f"--{name}", value]
    started = time.perf_counter()
    done = run(*argv, "--json")
    result.seconds = time.perf_counter() - started
    if (folder / MARKER).exists():
        result.wrong.append("code in a pickle was run")
    if case.error:
        _judge_error(result, done)
    else:
        _judge_diagnosis(result, done)
    if case.says and not result.wrong:
        said = " ".join(run(*argv)[1].split())
        result.wrong += [f"does not say {words!r}" for words in case.says if words not in said]
    return result


def as_process(*argv: str) -> Done:
    """The real command, bounded in time."""
    command = [sys.executable, "-m", "hypotree", *argv]
    env = {k: v for k, v in os.environ.items() if k not in {"HYPOTREE_ACTOR", "VIRTUAL_ENV"}}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_SECONDS, check=False, env=env,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def _judge_error(result: Result, done: Done) -> None:
    code, _, err = done
    text = " ".join(err.split())
    if code != 2 or "Traceback" in text:
        result.missed.append(f"exit 2 (it was {code}: {text[-200:]})")
    elif result.case.error not in text:
        result.wrong.append(f"message is: {text[:300]}")
    else:
        result.found.append("exit 2")


def _judge_diagnosis(result: Result, done: Done) -> None:
    case = result.case
    exit_code, out, err = done
    if not out:
        result.wrong.append(f"exit {exit_code}: {' '.join(err.split())[-300:]}")
        return
    found: dict[str, Any] = json.loads(out)
    by_code = {one["fault"]: one for one in found["hypotheses"]}
    for code, authority in case.confirmed.items():
        one = by_code[code]
        is_right = (one["verdict"], one["authority"]) == ("confirmed", authority)
        said = f"{code} ({one['verdict']} by {one['authority']}: {one['why'][:120]})"
        (result.found if is_right else result.missed).append(code if is_right else said)
    for code, one in by_code.items():
        true = one["verdict"] == "confirmed" and one["authority"] == TRUE
        # Where a forward leaves the reference is a consequence, as long as its cause is named.
        follows = code.startswith("trace.") and bool(one["explained_by"])
        accused = true and code not in case.confirmed and code not in case.may and not follows
        if accused or (one["verdict"] == "confirmed" and code in case.clean):
            result.false.append(f"{code}: {one['why'][:160]}")
    result.wrong += list(_differences(case, found, by_code, exit_code))


def _differences(
    case: Case, found: dict[str, Any], by_code: dict[str, Any], code: int
) -> Iterable[str]:
    can_be_healthy = all_probes()[0].keys() >= _HEALTHY_NEEDS
    if case.verdict == "not-faulty" or (case.verdict == "healthy" and not can_be_healthy):
        if found["verdict"] == "faulty":
            yield "it is called faulty"
    elif found["verdict"] != case.verdict:
        still_open = [c for c, o in by_code.items() if o["verdict"] in {"inconclusive", "invalid"}]
        why = f"open: {still_open}, suspected: {found['suspicions']}, notes: {found['notes']}"
        yield f"verdict {found['verdict']}, not {case.verdict} ({why})"
    if code != _EXIT[found["verdict"]]:
        yield f"exit code {code}"
    roots = set(found["root_causes"])
    if case.roots and not (set(case.roots) <= roots <= {*case.roots, *case.may}):
        yield f"root causes {found['root_causes']}"
    for fault, verdict in case.verdicts.items():
        if by_code[fault]["verdict"] != verdict:
            yield f"{fault} is {by_code[fault]['verdict']}: {by_code[fault]['why'][:120]}"
    for fault, answer in case.gate.items():
        fix = by_code[fault]["fix"] or {"gate": "none", "code": None}
        if answer not in {fix["gate"], fix["code"]}:
            yield f"the gate says {fix['gate']} {fix['code']} to {fault}"


def judge_all(cases: Sequence[Case], workers: int = 2) -> Iterator[Result]:
    """Every case in order, a few at a time, each as soon as it and those before it are through."""
    with (
        tempfile.TemporaryDirectory(prefix="hypotree-cases-") as root,
        ThreadPoolExecutor(workers) as pool,
    ):
        yield from pool.map(lambda case: judge(case, Path(root), as_process), cases)


def main() -> int:
    """Print the table; 1 if anything is missed, falsely alarmed or wrong."""
    wanted = set(sys.argv[1:])
    results = []
    for result in judge_all([case for case in CASES if not wanted or case.id in wanted]):
        results.append(result)
        _say(f"{result.case.id:<5} {_state(result):<8} {result.seconds:5.1f} s  {result.case.what}")
        details = [f"missed {m}" for m in result.missed] + [f"false {f}" for f in result.false]
        for line in [*details, *result.wrong, *([result.skipped] if result.skipped else [])]:
            _say(f"{'':<24}{line}")
    _say("\n" + summary(results))
    return 0 if all(result.is_good for result in results) else 1


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def summary(results: Sequence[Result]) -> str:
    """The figures that count."""
    ran = [result for result in results if not result.skipped]
    expected = sum(len(r.found) + len(r.missed) for r in ran)
    return (
        f"{len(ran)} cases run, {len(results) - len(ran)} skipped for want of a probe: "
        f"{sum(len(r.found) for r in ran)} of {expected} expected faults and refusals found, "
        f"{sum(len(r.missed) for r in ran)} missed, {sum(len(r.false) for r in ran)} false alarms, "
        f"{sum(bool(r.wrong) for r in ran)} cases otherwise wrong"
    )


def _state(result: Result) -> str:
    return "skipped" if result.skipped else "good" if result.is_good else "WRONG"


if __name__ == "__main__":
    sys.exit(main())
