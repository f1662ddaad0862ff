"""Planted logs of acceptance-log and their healthy twins, as the engines write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.probe.api import Case
from hypotree_probes.eagle3.acceptance_written import (
    old_vllm_line,
    sglang_line,
    sglang_metrics,
    trt_line,
    vllm_line,
    vllm_metrics,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def _log(*lines: str) -> Callable[[Path], Mapping[str, str]]:
    def write(folder: Path) -> Mapping[str, str]:
        path = folder / "server.log"
        path.write_text("server started\n" + "".join(f"{line}\n" for line in lines))
        return {"log": str(path)}

    return write


CASES: Final = (
    Case(
        "acceptance.at-floor",
        _log(sglang_line(1.05, 0.21), sglang_line(1.04, 0.21)),
        _log(sglang_line(1.60, 0.40)),
        report="the founding incident; N6",
    ),
    Case(
        "acceptance.at-floor", _log(sglang_line(1.0)), _log(sglang_line(2.4)), report="sglang 0.5.2"
    ),
    Case(
        "acceptance.at-floor",
        _log(vllm_line(0, 2103, (0.0, 0.0, 0.0))),
        _log(vllm_line(885, 1500, (0.751, 0.567, 0.453))),
    ),
    Case(
        "acceptance.at-floor",
        _log(old_vllm_line(0, 1000)),
        _log(old_vllm_line(612, 1000)),
        report="vllm 0.8",
    ),
    Case("acceptance.at-floor", _log(trt_line(0, 24, 8)), _log(trt_line(14, 24, 8)), report="Q4"),
    Case(
        "acceptance.at-floor",
        _log(*vllm_metrics(700, 2100, (1, 0, 0))),
        _log(*vllm_metrics(500, 1500, (375, 280, 220))),
        report="a dump of vLLM's /metrics",
    ),
    Case(
        "acceptance.at-floor",
        _log(*sglang_metrics(1.05, 0.21)),
        _log(*sglang_metrics(2.61, 0.54)),
        report="a dump of SGLang's /metrics",
    ),
    Case(
        "acceptance.not-exercised",
        _log(*vllm_metrics(0, 0, ())),
        _log(*vllm_metrics(500, 1500, (375, 280, 220))),
        report="N5, by /metrics",
    ),
    Case(
        "acceptance.position-collapse",
        _log(*vllm_metrics(500, 1500, (375, 20, 0))),
        _log(*vllm_metrics(500, 1500, (375, 280, 220))),
        report="by /metrics",
    ),
    Case(
        "acceptance.not-exercised",
        _log(vllm_line(0, 0, ())),
        _log(vllm_line(885, 1500, (0.751, 0.567, 0.453))),
        report="N5",
    ),
    Case(
        "acceptance.not-exercised",
        _log(trt_line(0, 0, 0)),
        _log(trt_line(14, 24, 8)),
        report="N5",
    ),
    Case(
        "acceptance.position-collapse",
        _log(vllm_line(400, 1500, (0.75, 0.05, 0.0))),
        _log(vllm_line(885, 1500, (0.751, 0.567, 0.453))),
    ),
)
