"""Planted faults and healthy twins for config-effective, on the small engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hypotree.probe import Case
from hypotree_probes.engines.coverage_cases import HEALTHY_CONFIG, healthy_tensors
from hypotree_probes.engines.tiny import plant_engine
from hypotree_probes.engines.tiny.package import MODEL_FILE, Change
from hypotree_probes.planting import plant_checkpoint

Plant = Callable[[Path], Mapping[str, str]]

#: As SGLang since 0.5.12: the state that is handed on may be normed.
_NORMED: Final = """        is_normed = getattr(self.config, "norm_output", False)
        return to_logits, [to_logits if is_normed else to_next]
"""
_READS_NORM_OUTPUT: Final = {MODEL_FILE: ("        return to_logits, [to_next]\n", _NORMED)}
_KEEPS_CONFIG: Final = (
    "        super().__init__()\n        self.embed_tokens = Vocab",
    "        super().__init__()\n        self.config = config\n        self.embed_tokens = Vocab",
)


def _place(
    change: Mapping[str, Any], train: Mapping[str, Any] | None = None, *, reads: bool = False
) -> Plant:
    def write(folder: Path) -> Mapping[str, str]:
        spec = plant_engine(folder, _READS_NORM_OUTPUT if reads else None)
        if reads:
            _patch(Path(spec.partition(":")[2]) / MODEL_FILE, _KEEPS_CONFIG)
        given = {
            "draft": plant_checkpoint(
                folder, healthy_tensors("midlayer"), HEALTHY_CONFIG | dict(change)
            ),
            "engine": spec,
        }
        if train is not None:
            file = folder / "train.json"
            file.write_text(json.dumps(train))
            given["train"] = str(file)
        return given

    return write


def _patch(file: Path, change: Change) -> None:
    file.write_text(file.read_text("utf-8").replace(*change), "utf-8")


_SPECULATORS: Final = {"speculators_model_type": "eagle3", "norm_output": True}
_SPECFORGE: Final = {"architectures": ["LlamaForCausalLMEagle3"], "norm_output": True}
_THETA: Final = 500000.0

CASES: Final = (
    Case("config.norm-flag-ignored", _place({"norm_before_residual": True}),
         _place({"norm_before_residual": False}), report="F17"),
    Case("config.norm-output-conflict", _place({"norm_output": True}, _SPECFORGE, reads=True),
         _place({"norm_output": True}, _SPECULATORS, reads=True)),
    # The small engine reads rope_theta only.
    Case("config.rope-mismatch", _place({"rope_parameters": {"rope_theta": _THETA}}),
         _place({"rope_theta": _THETA}), report="F20"),
    Case("config.field-ignored", _place({"num_aux_hidden_states": 4}),
         _place({"num_aux_hidden_states": 3})),
)  # fmt: skip
