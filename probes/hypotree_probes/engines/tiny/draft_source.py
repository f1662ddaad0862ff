"""The small engine's draft class: EAGLE-3 as facts/eagle3.md section 4 has it, by SGLang's names."""

from typing import Final

DRAFT: Final = """
import torch
from torch import nn

from sglang.srt.distributed import get_pp_group
from sglang.srt.layers.activation import SiluAndMul
from sglang.srt.layers.layernorm import RMSNorm
from sglang.srt.layers.linear import (
    MergedColumnParallelLinear,
    QKVParallelLinear,
    RowParallelLinear,
)
from sglang.srt.layers.logits_processor import LogitsProcessor
from sglang.srt.layers.radix_attention import RadixAttention
from sglang.srt.layers.rotary_embedding import get_rope
from sglang.srt.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding
from sglang.srt.model_loader.weight_utils import default_weight_loader
from sglang.srt.utils import add_prefix


class Attention(nn.Module):
    def __init__(self, config, prefix):
        super().__init__()
        heads, kv_heads, size = (
            config.num_attention_heads, config.num_key_value_heads, config.head_dim,
        )
        self.sizes = [heads * size, kv_heads * size, kv_heads * size]
        self.qkv_proj = QKVParallelLinear(
            2 * config.hidden_size, size, heads, kv_heads, bias=False,
            prefix=add_prefix("qkv_proj", prefix),
        )
        self.o_proj = RowParallelLinear(heads * size, config.hidden_size, bias=False)
        self.rotary_emb = get_rope(
            size, rotary_dim=size, max_position=config.max_position_embeddings,
            base=getattr(config, "rope_theta", 10000), rope_scaling=None,
        )
        self.attn = RadixAttention(heads, size, size**-0.5, num_kv_heads=kv_heads, layer_id=0)

    def forward(self, positions, hidden_states, forward_batch):
        qkv, _ = self.qkv_proj(hidden_states)
        q, k, v = qkv.split(self.sizes, dim=-1)
        q, k = self.rotary_emb(positions, q, k)
        output, _ = self.o_proj(self.attn(q, k, v, forward_batch))
        return output


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_up_proj = MergedColumnParallelLinear(
            config.hidden_size, [config.intermediate_size] * 2, bias=False
        )
        self.down_proj = RowParallelLinear(
            config.intermediate_size, config.hidden_size, bias=False
        )
        self.act_fn = SiluAndMul()

    def forward(self, x):
        gate_up, _ = self.gate_up_proj(x)
        x, _ = self.down_proj(self.act_fn(gate_up))
        return x


class DecoderLayer(nn.Module):
    def __init__(self, config, prefix):
        super().__init__()
        self.self_attn = Attention(config, prefix)
        self.mlp = MLP(config)
        self.input_layernorm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.hidden_norm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, positions, embeds, hidden_states, forward_batch):
        residual = hidden_states
        normed = self.hidden_norm(hidden_states)
        joined = torch.cat([self.input_layernorm(embeds), normed], dim=-1)
        hidden_states = self.self_attn(positions, joined, forward_batch)
        hidden_states, residual = self.post_attention_layernorm(hidden_states, residual)
        return self.mlp(hidden_states), residual


class DraftModel(nn.Module):
    def __init__(self, config, prefix=""):
        super().__init__()
        self.embed_tokens = VocabParallelEmbedding(config.vocab_size, config.hidden_size)
        self.fc = nn.Linear(3 * config.hidden_size, config.hidden_size, bias=False)
        self.midlayer = DecoderLayer(config, prefix)
        self.norm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, input_ids, positions, forward_batch):
        embeds = self.embed_tokens(input_ids)
        hidden_states = forward_batch.spec_info.hidden_states
        if hidden_states.shape[-1] != embeds.shape[-1]:
            hidden_states = self.fc(hidden_states)
        hidden_states, residual = self.midlayer(positions, embeds, hidden_states, forward_batch)
        to_logits, to_next = self.norm(hidden_states, residual)
        return to_logits, [to_next]


class LlamaForCausalLMEagle3(nn.Module):
    def __init__(self, config, quant_config=None, prefix=""):
        super().__init__()
        self.config = config
        self.pp_group = get_pp_group()
        self.model = DraftModel(config, add_prefix("model", prefix))
        self.lm_head = ParallelLMHead(config.draft_vocab_size, config.hidden_size)
        self.logits_processor = LogitsProcessor(config)
        self.hot_token_id = None

    @torch.no_grad()
    def forward(self, input_ids, positions, forward_batch):
        hidden_states, aux = self.model(input_ids, positions, forward_batch)
        return self.logits_processor(input_ids, hidden_states, self.lm_head, forward_batch, aux)

    def set_embed(self, embed):
        del self.model.embed_tokens.weight
        self.model.embed_tokens.weight = embed

    def load_weights(self, weights):
        params = dict(self.named_parameters())
        stacked = [
            (".qkv_proj", ".q_proj", "q"), (".qkv_proj", ".k_proj", "k"),
            (".qkv_proj", ".v_proj", "v"), (".gate_up_proj", ".gate_proj", 0),
            (".gate_up_proj", ".up_proj", 1),
        ]
        for name, loaded in weights:
            if "d2t" in name:
                self.hot_token_id = loaded + torch.arange(loaded.shape[0])
                continue
            if "t2d" in name:
                continue
            shard = ()
            for whole, part, shard_id in stacked:
                if part in name:
                    name, shard = name.replace(part, whole), (shard_id,)
                    break
            name = name if name in params else f"model.{name}"
            if name in params:
                loader = getattr(params[name], "weight_loader", default_weight_loader)
                loader(params[name], loaded, *shard)


EntryClass = [LlamaForCausalLMEagle3]
"""
