"""Write the incident's folder: draft, target, map, sample, log, trace, session. The same bytes each time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from hypotree.artifact.tensor import TensorValue
from hypotree_probes.engines.capture_cases import guarded_wrapper
from hypotree_probes.engines.tiny import plant_engine
from hypotree_probes.incident.data import data_file
from hypotree_probes.incident.expand import Incident, expand
from hypotree_probes.incident.records import server_log, trace_lines
from hypotree_probes.planting import safetensors_bytes

_NAMES: Final = {torch.bfloat16: "BF16", torch.int64: "I64", torch.float32: "F32"}
AUX_IDS: Final = (2, 30, 58)


def make_incident(folder: Path) -> None:
    """Everything that the engineers of the incident had on disk, at a small hidden size."""
    incident = expand(data_file("incident_weights.safetensors"))
    _checkpoint(folder / "output_10k" / "4", _draft(incident), _draft_config(incident))
    embeddings = {"language_model.model.embed_tokens.weight": incident.embed_tokens}
    _checkpoint(folder / "target", embeddings, _target_config(incident))
    (folder / "vocab_mapping").mkdir()
    torch.save(incident.d2t, folder / "vocab_mapping" / "d2t.pt")
    torch.save(_sample(incident), folder / "sample.pt")
    (folder / "server.log").write_text(server_log())
    (folder / "trace.jsonl").write_text(trace_lines(incident.config.hidden_size))
    # As the incident's: a 0.5.9 whose Kimi wrapper got a setter with a guard that is never true.
    plant_engine(folder, guarded_wrapper(), version="0.5.9+fork")
    shutil.copyfile(data_file("session.yaml"), folder / "session.yaml")


def _draft(incident: Incident) -> dict[str, Tensor]:
    """As ModelOpt saves a draft since 0.43: `layers.0.*`, d2t, no embeddings, no t2d."""
    return {"d2t": incident.d2t, **dict(sorted(incident.drafter.items()))}


def _draft_config(incident: Incident) -> dict[str, object]:
    config = incident.config
    return {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": 1,
        "num_attention_heads": config.num_attention_heads,
        "num_key_value_heads": config.num_key_value_heads,
        "head_dim": config.head_dim,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_theta": config.rope_theta,
        "hidden_act": "silu",
        "attention_bias": False,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "vocab_size": config.vocab_size,
        "draft_vocab_size": config.draft_vocab_size,
        "eagle_config": {
            "eagle_aux_hidden_state_layer_ids": list(AUX_IDS),
            "use_aux_hidden_state": True,
        },
    }


def _target_config(incident: Incident) -> dict[str, object]:
    return {
        "architectures": ["KimiK25ForConditionalGeneration"],
        "model_type": "kimi_k25",
        "text_config": {
            "model_type": "kimi_k2",
            "hidden_size": incident.config.hidden_size,
            "num_hidden_layers": 61,
            "vocab_size": incident.config.vocab_size,
        },
    }


def _sample(incident: Incident) -> dict[str, Tensor]:
    """As ModelOpt dumps one: the final state after its norm, the aux states joined."""
    sample = incident.sample
    return {
        "input_ids": sample["input_ids"],
        "hidden_states": sample["hidden_states"],
        "aux_hidden_states": sample["aux_hidden_states"],
        "loss_mask": torch.ones_like(sample["input_ids"]),
    }


def _checkpoint(folder: Path, tensors: Mapping[str, Tensor], config: Mapping[str, object]) -> None:
    folder.mkdir(parents=True)
    values = {name: _value(tensor) for name, tensor in tensors.items()}
    (folder / "model.safetensors").write_bytes(safetensors_bytes(values))
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def _value(tensor: Tensor) -> TensorValue:
    flat = tensor.contiguous().view(torch.uint8).numpy().tobytes()
    return TensorValue(_NAMES[tensor.dtype], tuple(tensor.shape), flat)
