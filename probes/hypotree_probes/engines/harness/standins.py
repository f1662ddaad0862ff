"""Leaf layers in plain torch, with the loading contract of the engines' own.

Sources: sglang 0.5.23 srt/layers/linear.py (shard ids q/k/v and 0/1, output with a second
member for the bias), layernorm.py (fused residual add), vocab_parallel_embedding.py,
logits_processor.py; vllm 0.33.0 model_executor/layers/linear.py says the same. One rank,
no quantisation: what is tensor-parallel is whole here.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypotree_probes.engines.harness.stubs import Undecidable

_SCALE: Final = 0.02
_BLOCK: Final = 1 << 22


def parameter(*shape: int, loader: Any = None) -> nn.Parameter:
    """A parameter as a fresh layer holds it: small random values, never NaN."""
    made = nn.Parameter(_fresh(shape), requires_grad=False)
    if loader is not None:
        made.weight_loader = loader  # type: ignore[attr-defined]
    return made


def _fresh(shape: tuple[int, ...]) -> Tensor:
    """Random values; a large tensor repeats a block of them, which no question can tell apart."""
    whole = torch.empty(*shape)
    flat, block = whole.view(-1), min(whole.numel(), _BLOCK)
    first = flat[:block].normal_(0, _SCALE)
    for begin in range(block, whole.numel(), _BLOCK):
        part = flat[begin : begin + _BLOCK]
        part.copy_(first[: part.numel()])
    return whole


def copy_whole(param: Tensor, loaded: Tensor) -> None:
    """The loader of a parameter that is one tensor on disk."""
    if param.shape != loaded.shape:
        raise AssertionError(f"a tensor of {list(loaded.shape)} for {list(param.shape)}")
    param.data.copy_(loaded)


class Linear(nn.Module):
    """Replicated, column- and row-parallel linear layers, on one rank all the same."""

    def __init__(
        self,
        input_size: int,
        output_size: int,
        bias: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        if options.get("quant_config") is not None:
            raise Undecidable("the engine asks for quantised layers")
        self.input_size, self.output_size = input_size, output_size
        self.skip_bias_add = bool(options.get("skip_bias_add", False))
        self.return_bias = bool(options.get("return_bias", True))
        self.weight = parameter(output_size, input_size, loader=self.weight_loader)
        self.bias = parameter(output_size, loader=self.weight_loader) if bias else None
        self.quant_method = None

    def weight_loader(self, param: Tensor, loaded: Tensor) -> None:
        """One tensor fills it."""
        copy_whole(param, loaded)

    def forward(self, x: Tensor, *_: Any, **__: Any) -> Any:
        """The product, and the bias if it is to be added by the caller."""
        held = self.bias if self.skip_bias_add else None
        product = F.linear(x, self.weight, None if self.skip_bias_add else self.bias)
        return (product, held) if self.return_bias else product


class Stacked(Linear):
    """Several linear layers in one parameter, filled shard by shard."""

    def __init__(self, input_size: int, shards: dict[Any, int], **options: Any) -> None:
        super().__init__(input_size, sum(shards.values()), **options)
        self.places: dict[Any, tuple[int, int]] = {}
        at = 0
        for name, size in shards.items():
            self.places[name] = (at, size)
            at += size

    def weight_loader(self, param: Tensor, loaded: Tensor, loaded_shard_id: Any = None) -> None:
        """A shard fills its rows; without a shard id the tensor is stacked already.

        vLLM 0.28 and 0.33 write the id on the tensor itself (models/utils.py, WeightsMapper).
        """
        if loaded_shard_id is None:
            loaded_shard_id = getattr(loaded, "shard_id", None)
        if loaded_shard_id is None:
            copy_whole(param, loaded)
            return
        if loaded_shard_id not in self.places:
            raise AssertionError(f"no shard {loaded_shard_id!r} in {list(self.places)}")
        at, size = self.places[loaded_shard_id]
        copy_whole(param.data.narrow(0, at, size), loaded)


class QKVParallelLinear(Stacked):
    """Queries, keys and values."""

    def __init__(
        self,
        hidden_size: int,
        head_size: int,
        total_num_heads: int,
        total_num_kv_heads: int | None = None,
        bias: bool = True,
        **options: Any,
    ) -> None:
        kv = (total_num_kv_heads or total_num_heads) * head_size
        shards = {"q": total_num_heads * head_size, "k": kv, "v": kv}
        super().__init__(hidden_size, shards, bias=bias, **options)


class MergedColumnParallelLinear(Stacked):
    """Gate and up."""

    def __init__(
        self,
        input_size: int,
        output_sizes: list[int],
        bias: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(input_size, dict(enumerate(output_sizes)), bias=bias, **options)


class RMSNorm(nn.Module):
    """The norm with its fused residual add: two results if there is a residual."""

    def __init__(self, hidden_size: int, eps: float = 1e-6, **_: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size), requires_grad=False)
        self.variance_epsilon = eps
        self.hidden_size = hidden_size

    def forward(self, x: Tensor, residual: Tensor | None = None, *_: Any, **__: Any) -> Any:
        """The norm of the sum; the sum beside it."""
        total = x if residual is None else x + residual
        wide = total.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        normed = (wide * scale).to(total.dtype) * self.weight
        return normed if residual is None else (normed, total)

    def fuse_input_quant(self, *_: Any, **__: Any) -> None:
        """Nothing is quantised here."""


class VocabParallelEmbedding(nn.Module):
    """A table of rows by token."""

    def __init__(self, num_embeddings: int, embedding_dim: int, **_: Any) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = parameter(num_embeddings, embedding_dim, loader=self.weight_loader)

    def weight_loader(self, param: Tensor, loaded: Tensor) -> None:
        """One tensor fills it."""
        copy_whole(param, loaded)

    def forward(self, ids: Tensor) -> Tensor:
        """Rows."""
        return F.embedding(ids, self.weight)


class ParallelLMHead(VocabParallelEmbedding):
    """The same table the other way round."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, bias: bool = False, **_: Any
    ) -> None:
        super().__init__(num_embeddings, embedding_dim)
        self.bias = parameter(num_embeddings, loader=self.weight_loader) if bias else None


class SiluAndMul(nn.Module):
    """silu(gate) * up."""

    def forward(self, x: Tensor, *_: Any, **__: Any) -> Tensor:
        """Halves the last axis."""
        gate, up = x.chunk(2, -1)
        return F.silu(gate) * up


class LogitsProcessor(nn.Module):
    """Every position's logits, cut at the config's vocabulary."""

    def __init__(self, config: Any, *_: Any, **__: Any) -> None:
        super().__init__()
        self._rows = config.vocab_size

    def forward(
        self, ids: Tensor, hidden: Tensor, head: Any, batch: Any = None, aux: Any = None, *_: Any
    ) -> Any:
        """Logits, and the captured states as one tensor."""
        del ids, batch
        logits = F.linear(hidden, head.weight)[..., : self._rows]
        states = torch.cat(list(aux), dim=-1) if aux else hidden
        return SimpleNamespace(next_token_logits=logits, hidden_states=states)
