"""Small drafters with plausible values, to be made ill: hidden 32, vocabulary 128."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.tensor import TensorValue
from hypotree_probes.planting import ids, mask, safetensors_bytes

PRODUCERS = Path(__file__).parent / "producers"
H, WIDE, VOCABULARY, DRAFT_VOCABULARY = 32, 64, 128, 32
#: An ascending choice of target ids with gaps, so that offsets repeat, as real ones do.
TARGETS = [*range(12), *range(20, 30), *range(50, 56), 77, 90, 101, 127]
OFFSETS = [target - draft for draft, target in enumerate(TARGETS)]


def weight(*shape: int, seed: int = 0, dtype: str = "BF16") -> TensorValue:
    """Values as training leaves them: heavy-tailed, near 0.05, never an initialiser's."""
    random = np.random.default_rng([seed, *shape])
    values = (0.05 * random.standard_t(5, shape)).astype(np.float32)
    return from_floats(values, dtype)


def norm(size: int, seed: int = 0) -> TensorValue:
    """A norm's weight, around one."""
    random = np.random.default_rng([seed, size, 1])
    return from_floats((1 + 0.2 * random.standard_normal(size)).astype(np.float32))


def from_floats(values: Any, dtype: str = "BF16") -> TensorValue:
    """Floats as a tensor; BF16 by dropping the lower half."""
    array = np.ascontiguousarray(values, dtype="<f4")
    if dtype == "F32":
        return TensorValue("F32", array.shape, array.tobytes())
    return TensorValue("BF16", array.shape, (array.view("<u4") >> 16).astype("<u2").tobytes())


@dataclass
class Draft:
    """Tensors and config of one drafter, changed at will and then written."""

    tensors: dict[str, TensorValue] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path, name: str = "draft") -> str:
        """Write it; returns its path."""
        path = folder / name
        path.mkdir(parents=True)
        (path / "model.safetensors").write_bytes(safetensors_bytes(self.tensors))
        (path / "config.json").write_text(json.dumps(self.config, indent=1))
        return str(path)

    def write_sharded(self, folder: Path) -> str:
        """Write it in two shards with their index."""
        path = folder / "draft"
        path.mkdir(parents=True)
        names = list(self.tensors)
        parts = {"model-00001-of-00002.safetensors": names[::2],
                 "model-00002-of-00002.safetensors": names[1::2]}  # fmt: skip
        for file, held in parts.items():
            (path / file).write_bytes(safetensors_bytes({n: self.tensors[n] for n in held}))
        where = {name: file for file, held in parts.items() for name in held}
        index = {"metadata": {"total_size": sum(len(t.data) for t in self.tensors.values())},
                 "weight_map": where}  # fmt: skip
        (path / "model.safetensors.index.json").write_text(json.dumps(index))
        (path / "config.json").write_text(json.dumps(self.config))
        return str(path)

    def eagle(self, **fields: Any) -> Draft:
        """Set fields of eagle_config."""
        self.config.setdefault("eagle_config", {}).update(fields)
        return self


def draft(layer: str = "midlayer", *, t2d: bool = True) -> Draft:
    """A sound SpecForge-style drafter: d2t and t2d, fc over three states, a head of its own."""
    tensors = {
        "fc.weight": weight(H, 3 * H),
        "norm.weight": norm(H),
        "lm_head.weight": weight(DRAFT_VOCABULARY, H, seed=1),
        "d2t": ids(OFFSETS),
        f"{layer}.input_layernorm.weight": norm(H, 1),
        f"{layer}.hidden_norm.weight": norm(H, 2),
        f"{layer}.post_attention_layernorm.weight": norm(H, 3),
        f"{layer}.self_attn.q_proj.weight": weight(H, 2 * H, seed=2),
        f"{layer}.self_attn.k_proj.weight": weight(16, 2 * H, seed=3),
        f"{layer}.self_attn.v_proj.weight": weight(16, 2 * H, seed=4),
        f"{layer}.self_attn.o_proj.weight": weight(H, H, seed=5),
        f"{layer}.mlp.gate_proj.weight": weight(WIDE, H, seed=6),
        f"{layer}.mlp.up_proj.weight": weight(WIDE, H, seed=7),
        f"{layer}.mlp.down_proj.weight": weight(H, WIDE, seed=8),
    }
    if t2d:
        tensors["t2d"] = mask(TARGETS, VOCABULARY)
    config = {
        "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": H,
        "intermediate_size": WIDE, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 8, "num_hidden_layers": 1, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "vocab_size": VOCABULARY, "draft_vocab_size": DRAFT_VOCABULARY,
        "max_position_embeddings": 256, "tie_word_embeddings": False, "hidden_act": "silu",
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 3, 4],
                         "use_aux_hidden_state": True},
    }  # fmt: skip
    return Draft(tensors, config)


def vocabulary(size: int, *, whole: int, d2t: list[int] | None, marked: list[int] | None) -> Draft:
    """A drafter of another draft vocabulary; no map or no mask where that is None."""
    made = draft()
    made.config |= {"vocab_size": whole, "draft_vocab_size": size}
    made.tensors["lm_head.weight"] = weight(size, H, seed=1)
    del made.tensors["d2t"], made.tensors["t2d"]
    if d2t is not None:
        made.tensors["d2t"] = ids(d2t)
    if marked is not None:
        made.tensors["t2d"] = mask(marked, whole)
    return made


def produced(name: str, folder: Path) -> Path:
    """A copy of a checkpoint that a real producer saved."""
    path = folder / "draft"
    shutil.copytree(PRODUCERS / name, path)
    return path


def loaded(path: Path) -> Draft:
    """A checkpoint's tensors and config, to be changed."""
    checkpoint = Checkpoint(str(path))
    values = {name: checkpoint.tensor(name) for name in checkpoint.names()}
    return Draft({n: v for n, v in values.items() if v is not None}, dict(checkpoint.config()))


def target(folder: Path, layers: int = 8, hidden: int = H, whole: int = VOCABULARY) -> str:
    """A target's config.json, which is enough for most questions."""
    path = folder / "target"
    path.mkdir(parents=True)
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden,
        "num_hidden_layers": layers, "vocab_size": whole, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": WIDE, "rms_norm_eps": 1e-5,
    }  # fmt: skip
    (path / "config.json").write_text(json.dumps(config))
    return str(path)


def map_file(folder: Path, offsets: list[int], marked: list[int] | None = None) -> str:
    """A map as SpecForge keeps it: a dict in a .pt; a bare tensor without t2d, as ModelOpt's."""
    import torch

    path = folder / "vocab_mapping" / "d2t.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    d2t = torch.tensor(offsets, dtype=torch.int64)
    if marked is None:
        torch.save(d2t, path)
    else:
        chosen = torch.zeros(VOCABULARY, dtype=torch.bool)
        chosen[marked] = True
        torch.save({"d2t": d2t, "t2d": chosen}, path)
    return str(path)


def lines(folder: Path, name: str, *text: str) -> str:
    """A text file."""
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in text))
    return str(path)


def sglang_log(folder: Path, length: float, rate: float, count: int = 8) -> str:
    """Decode lines of SGLang (facts/eagle3.md section 7)."""
    line = (
        "[2026-08-20 10:11:{:02d}] Decode batch, #running-req: 1, #token: 734, token usage: 0.01, "
        "accept len: {:.2f}, accept rate: {:.2f}, cuda graph: True, gen throughput (token/s): "
        "74.31, #queue-req: 0"
    )
    return lines(folder, "server.log", *(line.format(n, length, rate) for n in range(count)))


def vllm_log(folder: Path, positions: list[float], drafted: int = 1500) -> str:
    """Metric lines of vLLM (facts/eagle3.md section 7)."""
    steps = drafted // len(positions)
    accepted = int(sum(positions) * steps)
    line = (
        "(APIServer pid=411) INFO 08-20 10:11:{:02d} [metrics.py:120] SpecDecoding metrics: Mean "
        f"acceptance length: {1 + sum(positions):.2f}, Accepted throughput: 88.50 tokens/s, "
        f"Drafted throughput: 150.00 tokens/s, Accepted: {accepted} tokens, Drafted: {drafted} "
        f"tokens, Per-position acceptance rate: {', '.join(f'{p:.3f}' for p in positions)}, "
        f"Avg Draft acceptance rate: {100 * accepted / max(drafted, 1):.1f}%"
    )
    return lines(folder, "server.log", *(line.format(n) for n in range(6)))


def trace(folder: Path, *, fused: bool, module: str = "midlayer") -> str:
    """A whole trace of one first and one later draft step."""
    events: list[dict[str, Any]] = [
        {"event": "trace_start", "engine": "sglang", "engine_version": "0.5.10", "draft": "draft",
         "hooks": ["model.fc", f"model.{module}"]}
    ]  # fmt: skip
    if fused:
        events.append(_call("draft_extend", "model.fc", [5, 3 * H]))
    events += [_call("draft_extend", f"model.{module}", [5, H], [5, H])]
    events += [_call("draft_decode", f"model.{module}", [1, H], [1, H])]
    events.append({"event": "trace_end", "calls": len(events) - 1})
    return lines(folder, "trace.jsonl", *(json.dumps(event) for event in events))


def _call(phase: str, module: str, *shapes: list[int]) -> dict[str, Any]:
    return {"event": "module_call", "call": 1, "phase": phase, "module": module,
            "in_shapes": list(shapes), "out_shapes": [[shapes[0][0], H]]}  # fmt: skip
