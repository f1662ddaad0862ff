"""Planted faults and healthy twins for param-coverage, at hidden size 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from hypotree.artifact.tensor import TensorValue
from hypotree.probe import Case
from hypotree_probes.engines.tiny import plant_engine
from hypotree_probes.planting import blank, ids, mask, plant_checkpoint

_HIDDEN, _WIDE, _VOCABULARY, _DRAFT_VOCABULARY = 8, 16, 32, 8
HEALTHY_CONFIG: Final[dict[str, object]] = {
    "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": _HIDDEN,
    "intermediate_size": _WIDE, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4,
    "num_hidden_layers": 1, "vocab_size": _VOCABULARY, "draft_vocab_size": _DRAFT_VOCABULARY,
    "tie_word_embeddings": False,
}  # fmt: skip

Tensors = dict[str, TensorValue]
Change = Callable[[Tensors], object]


def _layer(name: str) -> Tensors:
    return {
        f"{name}.input_layernorm.weight": blank("BF16", _HIDDEN),
        f"{name}.hidden_norm.weight": blank("BF16", _HIDDEN),
        f"{name}.post_attention_layernorm.weight": blank("BF16", _HIDDEN),
        f"{name}.self_attn.q_proj.weight": blank("BF16", _HIDDEN, 2 * _HIDDEN),
        f"{name}.self_attn.k_proj.weight": blank("BF16", 4, 2 * _HIDDEN),
        f"{name}.self_attn.v_proj.weight": blank("BF16", 4, 2 * _HIDDEN),
        f"{name}.self_attn.o_proj.weight": blank("BF16", _HIDDEN, _HIDDEN),
        f"{name}.mlp.gate_proj.weight": blank("BF16", _WIDE, _HIDDEN),
        f"{name}.mlp.up_proj.weight": blank("BF16", _WIDE, _HIDDEN),
        f"{name}.mlp.down_proj.weight": blank("BF16", _HIDDEN, _WIDE),
    }


def healthy_tensors(layer: str) -> Tensors:
    """All that a one-layer Llama draft is made of, its decoder layer called `layer`."""
    chosen = list(range(0, 2 * _DRAFT_VOCABULARY, 2))
    return {
        "fc.weight": blank("BF16", _HIDDEN, 3 * _HIDDEN),
        "norm.weight": blank("BF16", _HIDDEN),
        "lm_head.weight": blank("BF16", _DRAFT_VOCABULARY, _HIDDEN),
        "d2t": ids([target - draft for draft, target in enumerate(chosen)]),
        "t2d": mask(chosen, _VOCABULARY),
        **_layer(layer),
    }


def _plant(
    engine: str, layer: str, change: Change = lambda _: None
) -> Callable[[Path], Mapping[str, str]]:
    def write(folder: Path) -> Mapping[str, str]:
        tensors = healthy_tensors(layer)
        change(tensors)
        return {"draft": plant_checkpoint(folder, tensors, HEALTHY_CONFIG), "engine": engine}

    return write


def _add_qk_norms(tensors: Tensors) -> None:
    """As speculators saves a qwen3 draft: no Llama class has these parameters."""
    for name in ("q_norm", "k_norm"):
        tensors[f"layers.0.self_attn.{name}.weight"] = blank("BF16", 4)


def _widen_q(tensors: Tensors) -> None:
    tensors["layers.0.self_attn.q_proj.weight"] = blank("BF16", 2 * _HIDDEN, 2 * _HIDDEN)


def _widen_fc(tensors: Tensors) -> None:
    tensors["fc.weight"] = blank("BF16", _HIDDEN, 4 * _HIDDEN)


def _prefix_all(tensors: Tensors) -> None:
    held = dict(tensors)
    tensors.clear()
    tensors.update({f"x.{name}": value for name, value in held.items()})


def _without(name: str) -> Change:
    return lambda tensors: tensors.pop(name)


def _plant_run(layer: str, change: Change = lambda _: None) -> Callable[[Path], Mapping[str, str]]:
    """The same on the small engine, whose own load_weights is run."""

    def write(folder: Path) -> Mapping[str, str]:
        tensors = healthy_tensors(layer)
        change(tensors)
        draft = plant_checkpoint(folder, tensors, HEALTHY_CONFIG)
        return {"draft": draft, "engine": plant_engine(folder)}

    return write


_OLD, _NEW = "sglang@0.5.10", "sglang@0.5.12"
_HEALTHY_OLD, _HEALTHY_NEW = _plant(_OLD, "midlayer"), _plant(_NEW, "layers.0")
_RENAMED = _plant(_OLD, "layers.0")
_PREFIXED = _plant(_NEW, "layers.0", _prefix_all)
_FUSELESS = _plant(_NEW, "layers.0", _without("fc.weight"))
_HEADLESS = _plant(_NEW, "layers.0", _without("lm_head.weight"))
_RUN, _RUN_RENAMED = _plant_run("midlayer"), _plant_run("layers.0")

#: Report ids are those of the cases from the field.
CASES: Final = (
    Case("params.renamed", _RENAMED, _HEALTHY_OLD, report="F13"),
    # The same bytes on the next release, which has the names: the engine decides.
    Case("params.renamed", _RENAMED, _HEALTHY_NEW, report="F13"),
    # Later releases rename midlayer themselves (N7), but no prefix.
    Case("params.renamed", _PREFIXED, _plant(_NEW, "midlayer"), report="N7"),
    Case("params.dropped", _RENAMED, _HEALTHY_OLD, report="F13"),
    Case("params.dropped", _plant(_NEW, "layers.0", _add_qk_norms), _HEALTHY_NEW, report="F13"),
    Case("params.unwritten", _RENAMED, _HEALTHY_OLD, report="F13"),
    # The twin has no embed_tokens either (N4): those are the target's.
    Case("params.unwritten", _FUSELESS, _HEALTHY_NEW, report="N4"),
    Case("params.shape-mismatch", _plant(_NEW, "layers.0", _widen_q), _HEALTHY_NEW),
    Case("params.lm-head-missing", _HEADLESS, _HEALTHY_NEW, report="F12 sglang#27829"),
    # By running a source tree, as for a user's own engine: the small one knows midlayer only.
    Case("params.renamed", _RUN_RENAMED, _RUN, report="F13 by running it"),
    Case("params.dropped", _plant_run("midlayer", _add_qk_norms), _RUN, report="by running it"),
    Case("params.unwritten", _plant_run("midlayer", _without("fc.weight")), _RUN,
         report="N4 by running it"),
    Case("params.shape-mismatch", _plant_run("midlayer", _widen_fc), _RUN, report="by running it"),
    Case("params.lm-head-missing", _plant_run("midlayer", _without("lm_head.weight")), _RUN,
         report="F12 by running it"),
)  # fmt: skip
