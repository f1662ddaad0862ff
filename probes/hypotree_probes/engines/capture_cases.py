"""Planted faults and healthy twins for delegation and aux-layers, on the small engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hypotree.probe import Case
from hypotree_probes.engines.aux_ids import TOP
from hypotree_probes.engines.coverage_cases import HEALTHY_CONFIG, healthy_tensors
from hypotree_probes.engines.tiny import plant_engine
from hypotree_probes.engines.tiny.package import WRAPPER_FILE, Change
from hypotree_probes.planting import plant_checkpoint

_LAYERS: Final = 28
_SETTER: Final = "    def set_eagle3_layers_to_capture(self, layer_ids=None):\n"
_CALL: Final = "        self.language_model.set_eagle3_layers_to_capture(layer_ids)\n"
#: A fork's guard: the inner class has no such method, so the call is silently left out.
_GUARDED: Final = (
    '        if hasattr(self.language_model, "set_aux_layers"):\n'
    "            self.language_model.set_aux_layers(layer_ids)\n"
)
_KIMI: Final = "KimiK25ForConditionalGeneration"


def guarded_wrapper() -> Mapping[str, Change]:
    """The change by which the small engine's wrapper does nothing, without a message."""
    return {WRAPPER_FILE: (_CALL, _GUARDED)}


def plant_target(folder: Path) -> str:
    """A target that is served through the wrapper."""
    return _target(folder, _KIMI)


Plant = Callable[[Path], Mapping[str, str]]


def _place(
    ids: list[int] | None,
    train: Mapping[str, Any] | None = None,
    *,
    target: str = "LlamaForCausalLM",
    changes: Mapping[str, Change] | None = None,
) -> Plant:
    def write(folder: Path) -> Mapping[str, str]:
        eagle = {"eagle_config": {TOP: ids}} if ids is not None else {"eagle_config": {}}
        given = {
            "draft": plant_checkpoint(folder, healthy_tensors("midlayer"), HEALTHY_CONFIG | eagle),
            "engine": plant_engine(folder, changes),
            "target": _target(folder, target),
        }
        if train is not None:
            file = folder / "train.json"
            file.write_text(json.dumps(train))
            given["train"] = str(file)
        return given

    return write


def _target(folder: Path, name: str) -> str:
    sizes = {"num_hidden_layers": _LAYERS, "hidden_size": 8, "vocab_size": 32}
    config: dict[str, Any] = {"architectures": [name], **sizes}
    if name == _KIMI:
        config = {"architectures": [name], "text_config": sizes}
    path = folder / "target"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    return str(path)


_SPECULATORS: Final = {"speculators_model_type": "eagle3", TOP: [2, 14, 25]}
_SPECFORGE: Final = {"eagle_config": {TOP: [3, 9, 20]}}

AUX_LAYER_CASES: Final = (
    # Trained on S_1, S_13, S_24; the same numbers in the nested key are read as S_2, S_14, S_25.
    Case("aux.ids-shifted", _place([2, 14, 25], _SPECULATORS), _place([1, 13, 24], _SPECULATORS),
         report="F06 vllm#43671 sglang#25454; twin N8"),
    Case("aux.ids-differ", _place([3, 9, 21], _SPECFORGE), _place([3, 9, 20], _SPECFORGE)),
    # No ids at all: the default is S_1, S_13, S_24, which is speculators' own choice here.
    Case("aux.ids-defaulted", _place(None, _SPECFORGE), _place(None, _SPECULATORS)),
)  # fmt: skip

DELEGATION_CASES: Final = (
    Case(
        "aux.delegation-missing",
        _place([1, 13, 24], target=_KIMI, changes={WRAPPER_FILE: (_SETTER + _CALL, "")}),
        _place([1, 13, 24], target=_KIMI),
        report="F31: no setter",
    ),
    Case(
        "aux.delegation-missing",
        _place([1, 13, 24], target=_KIMI, changes=guarded_wrapper()),
        _place([1, 13, 24], target=_KIMI),
        report="F31: a guard that turns a missing inner setter into silence",
    ),
)
