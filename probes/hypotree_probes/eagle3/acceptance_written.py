"""Acceptance counters as the engines write them, for planted logs (facts/eagle3.md section 7)."""

from __future__ import annotations

from typing import Final

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


def vllm_metrics(drafts: int, drafted: int, per_position: tuple[int, ...]) -> list[str]:
    """The counters of vLLM's /metrics."""
    label = 'engine="0",model_name="m"'
    return [
        f"vllm:spec_decode_num_drafts_total{{{label}}} {float(drafts)}",
        f"vllm:spec_decode_num_draft_tokens_total{{{label}}} {float(drafted)}",
        f"vllm:spec_decode_num_accepted_tokens_total{{{label}}} {float(sum(per_position))}",
        *(
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{label},position="{k}"}} {float(n)}'
            for k, n in enumerate(per_position)
        ),
    ]


def sglang_metrics(length: float, rate: float) -> list[str]:
    """The gauges of SGLang's /metrics."""
    label = 'engine_type="unified",model_name="m"'
    return [
        "# TYPE sglang:spec_accept_length gauge",
        f"sglang:spec_accept_length{{{label}}} {length}",
        f"sglang:spec_accept_rate{{{label}}} {rate}",
    ]
