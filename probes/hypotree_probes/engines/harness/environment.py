"""The answers that an engine's environment would give: one rank, no special device.

Keyed by name, wherever it is imported from: functions move between an engine's modules from
release to release, and keep their names.
"""

from __future__ import annotations

from typing import Any, Final

from torch import nn

from hypotree_probes.engines.harness import attention, standins
from hypotree_probes.engines.harness.ranks import GROUP
from hypotree_probes.engines.harness.stubs import stub


class Known:
    """An object of which some attributes are known; the others are stubs."""

    def __init__(self, name: str, **known: Any) -> None:
        self.__dict__.update(known)
        self.__dict__["_known_name"] = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub(f"{self._known_name}.{name}")


_PARALLEL: Final = Known(
    "parallel", pp_group=GROUP, tp_group=GROUP, tp_size=1, tp_rank=0, pp_size=1, pp_rank=0,
    attn_tp_size=1, attn_tp_rank=0, attn_dp_size=1, moe_ep_size=1,
)  # fmt: skip
_SPEC: Final = Known("spec", speculative_draft_window_size=None)
_ARGS: Final = Known("server_args", speculative_draft_window_size=None, tp_size=1, pp_size=1)


class DualGemm(nn.Module):
    """A fused kernel that needs a GPU of its own kind: it never can run here."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def can_run(self, *_: Any) -> bool:
        """Never."""
        return False


class _Nothing:
    """A context manager around code that runs as it is."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


_NO_DEVICE: Final = (
    "is_cuda", "is_hip", "is_npu", "is_xpu", "is_cpu", "is_hpu", "is_musa", "is_mps", "is_blackwell",
    "cpu_has_amx_support", "is_dp_attention_enabled", "is_gfx95_supported", "is_sm100_supported",
)  # fmt: skip

_COMMON: Final[dict[str, Any]] = {
    "RMSNorm": standins.RMSNorm,
    "GemmaRMSNorm": stub("GemmaRMSNorm"),
    "ReplicatedLinear": standins.Linear,
    "ColumnParallelLinear": standins.Linear,
    "RowParallelLinear": standins.Linear,
    "QKVParallelLinear": standins.QKVParallelLinear,
    "MergedColumnParallelLinear": standins.MergedColumnParallelLinear,
    "VocabParallelEmbedding": standins.VocabParallelEmbedding,
    "ParallelLMHead": standins.ParallelLMHead,
    "SiluAndMul": standins.SiluAndMul,
    "get_rope": attention.get_rope,
    "get_pp_group": lambda: GROUP,
    "get_tensor_model_parallel_rank": lambda: 0,
    "get_tensor_model_parallel_world_size": lambda: 1,
}

_SGLANG: Final[dict[str, Any]] = {
    "LogitsProcessor": standins.LogitsProcessor,
    "RadixAttention": attention.Attention,
    "DualGemm": DualGemm,
    "layer_stack": _Nothing,
    "get_parallel": lambda: _PARALLEL,
    "get_spec": lambda: _SPEC,
    "get_global_server_args": lambda: _ARGS,
    "get_server_args": lambda: _ARGS,
    "get_attention_tp_rank": lambda: 0,
    "get_attention_tp_size": lambda: 1,
    **{name: (lambda *_, **__: False) for name in _NO_DEVICE},
}


def stand_ins_of(package: str) -> dict[str, Any]:
    """The stand-ins of one engine's package, by name."""
    if package == "vllm":
        from hypotree_probes.engines.harness.vllm_environment import VLLM

        return _COMMON | VLLM
    return _COMMON | _SGLANG
