"""The incident's server log and forward trace, in the forms that SGLang 0.5.9 and our hooks write."""

from __future__ import annotations

import json
from typing import Final

#: SGLang 0.5.6 to 0.5.10: rate = accept length / draft tokens (facts/eagle3.md section 7).
_LINE: Final = (
    "[2026-02-11 10:{minute:02d}:{second:02d} TP0] Decode batch, #running-req: 1, #token: {tokens}, "
    "token usage: 0.01, accept len: {length:.2f}, accept rate: {rate:.2f}, cuda graph: True, "
    "gen throughput (token/s): {speed:.2f}, #queue-req: 0, \n"
)
_DRAFT_TOKENS: Final = 5
_LENGTHS: Final = (1.05, 1.04, 1.06, 1.05, 1.05, 1.04, 1.06, 1.05)

_MODULES: Final = (
    "embed_tokens", "fc", "midlayer.hidden_norm", "midlayer.input_layernorm",
    "midlayer.self_attn.qkv_proj", "midlayer.self_attn.o_proj",
    "midlayer.post_attention_layernorm", "midlayer.mlp", "norm",
)  # fmt: skip
_STEPS: Final = 3


def server_log() -> str:
    """Decode lines whose accept length stays at 1.05 and whose rate, 0.21, looks alive."""
    head = (
        "[2026-02-11 10:11:02 TP0] server_args=ServerArgs(speculative_algorithm='EAGLE3', "
        "speculative_num_steps=4, speculative_eagle_topk=1, speculative_num_draft_tokens=5)\n"
    )
    lines = [head]
    for index, length in enumerate(_LENGTHS):
        lines.append(
            _LINE.format(
                minute=12 + index // 4,
                second=15 * (index % 4),
                tokens=734 + 42 * index,
                length=length,
                rate=length / _DRAFT_TOKENS,
                speed=41.2 + 0.3 * (index % 3),
            )
        )
    return "".join(lines)


def trace_lines(hidden: int) -> str:
    """Three verify rounds: every module of the drafter fires but fc; the states are `hidden` wide."""
    start: dict[str, object] = {
        "event": "trace_start", "engine": "sglang", "engine_version": "0.5.9",
        "draft": "output_10k/4", "hooks": [f"model.{name}" for name in _MODULES],
    }  # fmt: skip
    calls: list[dict[str, object]] = []
    for _ in range(_STEPS):
        calls += _pass("draft_extend", 2, hidden)
        for _ in range(3):
            calls += _pass("draft_decode", 1, hidden)
    events: list[dict[str, object]] = [start]
    events += [{"event": "module_call", "call": n, **call} for n, call in enumerate(calls, 1)]
    events.append({"event": "trace_end", "calls": len(calls)})
    return "".join(json.dumps(event) + "\n" for event in events)


def _pass(phase: str, tokens: int, hidden: int) -> list[dict[str, object]]:
    """One forward of the drafter with states as wide as one layer: the shape test skips fc."""
    plain, joined = [tokens, hidden], [tokens, 2 * hidden]
    shapes: dict[str, tuple[list[int], list[int]]] = {
        "embed_tokens": ([tokens], plain),
        "midlayer.input_layernorm": (plain, plain),
        "midlayer.hidden_norm": (plain, plain),
        "midlayer.self_attn.qkv_proj": (joined, joined),
        "midlayer.self_attn.o_proj": (plain, plain),
        "midlayer.post_attention_layernorm": (plain, plain),
        "midlayer.mlp": (plain, plain),
        "norm": (plain, plain),
    }
    return [
        {"phase": phase, "module": f"model.{name}", "class": "", "in_shapes": [taken],
         "out_shapes": [given], "dtype": "bfloat16"}
        for name, (taken, given) in shapes.items()
    ]  # fmt: skip
