"""The engine's own forward: which modules fire at each width of states, and on real weights, what."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor, nn

from hypotree_probes.engines.harness.batch import DECODE, EXTEND, Batch
from hypotree_probes.engines.harness.draft import Draft
from hypotree_probes.engines.harness.hooks import Recorder
from hypotree_probes.engines.harness.lines import Lines
from hypotree_probes.engines.harness.stubs import Undecidable

_TOKENS: Final = 6


def shapes_only(draft: Draft, widths: list[int], lines: Lines) -> list[dict[str, Any]]:
    """Forward on the meta device for every width: seconds at any size, and no values."""
    return [_one_width(draft, width, lines) for width in widths]


def _one_width(draft: Draft, width: int, lines: Lines) -> dict[str, Any]:
    started = time.perf_counter()
    model = draft.build()
    recorder = Recorder(model)
    result: dict[str, Any] = {"width": width}
    try:
        with torch.device("meta"), torch.no_grad(), recorder.hooked(), lines.watching():
            step(model, recorder, EXTEND, torch.empty(_TOKENS, width), {}, 0)
    except Undecidable:
        raise
    except Exception as error:  # noqa: BLE001 - a crash at a width is an answer about that width
        result["raised"] = f"{type(error).__name__}: {error}"[:500]
    result |= {
        "hooks": recorder.paths(), "events": recorder.events,
        "seconds": round(time.perf_counter() - started, 4),
    }  # fmt: skip
    return result


def step(
    model: nn.Module,
    recorder: Recorder,
    phase: str,
    hidden: Tensor,
    cache: dict[int, tuple[Tensor, Tensor]],
    start: int,
    ids: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One forward of the engine's class: logits, and the state that it hands on."""
    recorder.phase = phase
    count = hidden.shape[0]
    tokens = torch.zeros(count, dtype=torch.long) if ids is None else ids
    positions = torch.arange(start, start + count)
    if hasattr(model, "combine_hidden_states"):
        return _vllm_step(model, phase, hidden, tokens, positions)
    out = model(tokens, positions, Batch(phase, hidden, cache))
    return out.next_token_logits, out.hidden_states


def _vllm_step(
    model: Any, phase: str, hidden: Tensor, tokens: Tensor, positions: Tensor
) -> tuple[Tensor, Tensor]:
    """As vLLM's proposer does: combine the target's states, then forward; logits of the draft's own.

    Source: vllm 0.33.0 v1/spec_decode/llm_base_proposer.py (combine_hidden_states first).
    """
    states = model.combine_hidden_states(hidden) if phase == EXTEND else hidden
    out, state = model(tokens, positions, states)
    return model.logits_processor(model.lm_head, out), state


def values(
    draft: Draft, weights: dict[str, Tensor], options: dict[str, Any], lines: Lines
) -> dict[str, Any]:
    """Forward on real weights at one width; then recurrent steps on the drafter's own state."""
    device, dtype = options["device"], getattr(torch, options["dtype"])
    model = draft.build(device, dtype)
    draft.fill(model, weights)
    _embed(model, options, weights, device, dtype)
    recorder = Recorder(model)
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(_TOKENS, options["width"], generator=generator).to(device, dtype)
    ids = torch.randint(0, int(options["vocabulary"]), (_TOKENS,), generator=generator).to(device)
    cache: dict[int, tuple[Tensor, Tensor]] = {}
    started = time.perf_counter()
    with torch.device(device), torch.no_grad(), recorder.hooked(), lines.watching():
        logits, state = step(model, recorder, EXTEND, hidden, cache, 0, ids)
        stages = dict(recorder.outputs)
        again, _ = step(model, recorder, DECODE, state[-1:], cache, _TOKENS, ids[-1:])
    return {
        "hidden": hidden, "ids": ids, "logits": logits, "state": state, "stages": stages,
        "second": again, "events": recorder.events, "hooks": recorder.paths(), "model": model,
        "seconds": round(time.perf_counter() - started, 4),
    }  # fmt: skip


def _embed(
    model: nn.Module, options: dict[str, Any], weights: dict[str, Tensor], device: str, dtype: Any
) -> None:
    """The target's table in the draft's place, as the draft worker does; random if not given."""
    setter: Callable[[Any], None] | None = getattr(model, "set_embed", None)
    if setter is None or any(name.endswith("embed_tokens.weight") for name in weights):
        return
    generator = torch.Generator().manual_seed(1)
    shape = int(options["vocabulary"]), int(options["hidden"])
    table = torch.randn(*shape, generator=generator).to(device, dtype)
    setter(nn.Parameter(table, requires_grad=False))
