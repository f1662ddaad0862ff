"""Planted logs of acceptance-log and their healthy twins, as the engines write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypotree.probe.api import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_STAMP: Final = "[2025-11-20 10:11:12 TP0]"


def sglang_line(length: float, rate: float | None = None, running: int = 1) -> str:
    """A decode line; without a rate as 0.5.2 and older wrote it."""
    rates = "" if rate is None else f"accept rate: {rate:.2f}, "
    return (
        f"{_STAMP} Decode batch, #running-req: {running}, #token: 734, token usage: 0.01, "
        f"accept len: {length:.2f}, {rates}cuda graph: True, gen throughput (token/s): 74.31, "
        "#queue-req: 0, "
    )


def vllm_line(accepted: int, drafted: int, positions: tuple[float, ...]) -> str:
    """A line of vLLM 0.33.0; `nan` where nothing was drafted."""
    steps = drafted / len(positions) if positions else 0
    length = f"{1 + accepted / steps:.2f}" if steps else "nan"
    rate = f"{100 * accepted / drafted:.1f}" if drafted else "nan"
    shown = ", ".join(f"{p:.3f}" for p in positions)
    return (
        "(APIServer pid=411) INFO 08-20 10:11:12 [metrics.py:120] SpecDecoding metrics: "
        f"Mean acceptance length: {length}, Accepted throughput: 0.00 tokens/s, "
        f"Drafted throughput: 210.30 tokens/s, Accepted: {accepted} tokens, "
        f"Drafted: {drafted} tokens, "
        f"Per-position acceptance rate: {shown}, Avg Draft acceptance rate: {rate}%"
    )


def old_vllm_line(accepted: int, drafted: int) -> str:
    """A line of the 0.8 era: tokens only."""
    rate = f"{100 * accepted / drafted:.1f}" if drafted else "nan"
    return (
        f"SpecDecoding metrics: Draft acceptance rate: {rate}%, "
        f"Accepted: {accepted} tokens, Drafted: {drafted} tokens"
    )


def trt_line(accepted: int, drafted: int, requests: int) -> str:
    """One iteration of TensorRT-LLM."""
    length = (accepted + requests) / requests if requests else 0.0
    return (
        f'{{"iter": 57, "specDecodingStats": {{"numDraftTokens": {drafted}, '
        f'"numAcceptedTokens": {accepted}, "numRequestsWithDraftTokens": {requests}, '
        f'"acceptanceLength": {length}}}}}'
    )


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
