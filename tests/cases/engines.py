"""F06, F08, F31, S1, N8: what only an engine's own code or a target's forward decides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cases import drafts as d
from cases.case import TRUE, Case, Inputs, faulty, healthy

_LAYERS = 28
_IDS = "eagle_aux_hidden_state_layer_ids"
_KIMI = "KimiK25ForConditionalGeneration"
_SETTER = "    def set_eagle3_layers_to_capture(self, layer_ids=None):\n"
_CALL = "        self.language_model.set_eagle3_layers_to_capture(layer_ids)\n"
#: A fork's guard: the inner class has no such method, so the call is silently left out.
_GUARDED = (
    '        if hasattr(self.language_model, "set_aux_layers"):\n'
    "            self.language_model.set_aux_layers(layer_ids)\n"
)


def engine(folder: Path, changes: Mapping[str, tuple[str, str]] | None = None) -> str:
    """The pack's small engine in SGLang's layout, as its source."""
    from hypotree_probes.engines.tiny import plant_engine

    return plant_engine(folder, changes)


def served(
    ids: list[int] | None,
    trained: list[int] | None = None,
    *,
    kimi: bool = False,
    change: tuple[str, str] | None = None,
    **config: Any,
):
    """A drafter with ids in the nested key, trained by speculators with others."""

    def make(folder: Path) -> Inputs:
        made = d.draft()
        made.config |= config
        made.config["eagle_config"] = {} if ids is None else {_IDS: ids}
        target = Path(d.target(folder, layers=_LAYERS))
        if kimi:
            inner = json.loads((target / "config.json").read_text())
            outer = {"architectures": [_KIMI], "model_type": "kimi_k25", "text_config": inner}
            (target / "config.json").write_text(json.dumps(outer))
        changes = {"srt/models/kimi_k25.py": change} if change else None
        given = {"engine": engine(folder, changes), "target": str(target)}
        if trained is not None:
            saved = {"speculators_model_type": "eagle3", _IDS: trained, **config}
            given["train-config"] = d.lines(folder, "train.json", json.dumps(saved))
        return Inputs(made.write(folder), given)

    return make  # fmt: skip


def captured(*, planted: bool):
    """The pack's own small target and a capture of it, beside a sound drafter for that target."""

    def make(folder: Path) -> Inputs:
        from hypotree.probe.registry import probe_class

        cases = [c for c in probe_class("aux-identity")().cases() if "F08" in c.report]
        case = next(iter(cases), probe_class("aux-identity")().cases()[0])
        given = (case.plant if planted else case.heal)(folder / "made")
        made = d.vocabulary(8, whole=64, d2t=[0, 0, 1, 2, 4, 4, 14, 24],
                            marked=[0, 1, 3, 5, 8, 9, 20, 31]).eagle(**{_IDS: [1, 2, 4]})  # fmt: skip
        named = {"hidden-states": given["sample"]}
        if "target" in given:
            named["target"] = given["target"]
        else:
            named["input"] = f"capture={given['truth']}"
        return Inputs(made.write(folder), named)

    return make


_MISSING = "aux.delegation-missing"
_FLAG = "config.norm-flag-ignored"

CASES = (
    faulty("F06", "captures shifted by one layer", served([2, 14, 25], [2, 14, 25]),
           "aux.ids-shifted", report="vllm#43671 sglang#25454"),
    healthy("N8", "the same layers by two ways of counting", served([1, 13, 24], [2, 14, 25]),
            clean=("aux.ids-shifted", "aux.ids-differ", "aux.ids-defaulted"), needs=("aux-layers",),
            verdicts={"aux.ids-shifted": "refuted"}),
    faulty("F06b", "other layers than training's", served([1, 13, 20], [2, 14, 25]),
           "aux.ids-differ"),
    faulty("F06c", "no ids, and training had its own", served(None, [4, 14, 25]),
           "aux.ids-defaulted"),
    faulty("F08", "the last capture lacks the residual", captured(planted=True),
           "aux.content-differs", may=("acceptance.at-floor",), report="vllm#50815"),
    # Nobody trained this head: that nothing is accepted is so, and no fault of the capture.
    Case("F08b", "its healthy twin, under a head of random values", captured(planted=False),
         {"acceptance.at-floor": TRUE}, clean=("aux.content-differs",), needs=("aux-identity",)),
    faulty("F31", "a wrapper without the setter", served(
        [1, 13, 24], kimi=True, change=(_SETTER + _CALL, "")), _MISSING),
    faulty("F31b", "a wrapper whose guard silences it", served(
        [1, 13, 24], kimi=True, change=(_CALL, _GUARDED)), _MISSING),
    healthy("F31c", "a wrapper that passes it on", served([1, 13, 24], kimi=True),
            clean=(_MISSING,), needs=("delegation",)),
    Case("S1", "a capture shift and an ignored norm flag", served(
        [2, 14, 25], [2, 14, 25], norm_before_residual=True),
        {"aux.ids-shifted": TRUE, _FLAG: TRUE}, ("aux.ids-shifted", _FLAG),
        may=("config.field-ignored",), report="sglang#32334"),
)  # fmt: skip
