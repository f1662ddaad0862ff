"""The verdict on each config.* code, from what the engine read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hypotree.model.evidence import Finding, Locator
from hypotree.model.verdict import Authority, Verdict
from hypotree.probe.api import not_run

NORM_IGNORED: Final = "config.norm-flag-ignored"
NORM_OUTPUT: Final = "config.norm-output-conflict"
ROPE: Final = "config.rope-mismatch"
IGNORED: Final = "config.field-ignored"
#: Flags of one meaning stand together (facts/eagle3.md section 3).
_NORM_FLAGS: Final = (
    ("norm_before_residual",), ("norm_before_fc",), ("fc_norm", "use_aux_norm"), ("norm_output",),
)  # fmt: skip
#: Fields that change the draft's arithmetic, with the values at which they change nothing.
_FIELDS: Final[dict[str, tuple[Any, ...]]] = {
    "num_aux_hidden_states": (None, 3),
    "target_hidden_size": (None,),
    "mlp_bias": (None, False),
    "attention_bias": (None, False),
    "partial_rotary_factor": (None, 1, 1.0),
}
_DEFAULT_THETA: Final = 10000.0


@dataclass(frozen=True)
class Asked:
    """All that the verdicts rest on."""

    engine: str
    config: Mapping[str, Any]
    reads: Mapping[str, Any]
    ropes: list[list[Any]]
    train: Mapping[str, object] | None

    def value(self, field: str) -> tuple[str, Any]:
        """A field and the key under which config.json has it, nested ones included."""
        if self.config.get(field) is not None:
            return field, self.config[field]
        eagle = self.config.get("eagle_config")
        if isinstance(eagle, dict) and eagle.get(field) is not None:
            return f"eagle_config.{field}", eagle[field]
        return "", None


def norm_ignored(asked: Asked) -> Finding:
    """A norm flag that is on in config.json and that the engine never looks at."""
    for names in _NORM_FLAGS:
        found = [(key, value) for name in names for key, value in [asked.value(name)] if value]
        if found and not any(key in asked.reads for key, _ in found):
            key = found[0][0]
            why = f"config.json has {key} true, and {asked.engine} never reads it: the draft is "
            why += "served without the norm that it was trained with"
            return _confirmed(NORM_IGNORED, why, key)
    return _refuted(NORM_IGNORED, asked, "every norm flag that is on is read")


def norm_output(asked: Asked) -> Finding:
    """SpecForge's norm_output means the norm before the head; engines norm the next state by it.

    Source: facts/eagle3.md section 4 (SpecForge 0.2.0 llama3_eagle.py:1690, 1772-1777).
    """
    key, is_on = asked.value("norm_output")
    if not is_on:
        return _refuted(NORM_OUTPUT, asked, "norm_output is not on")
    if key not in asked.reads:
        return _refuted(NORM_OUTPUT, asked, f"{key} is never read, so the state stays un-normed")
    if asked.train is None:
        return not_run(NORM_OUTPUT, f"{key} is on: give --train-config to know what it meant there")
    if "speculators_model_type" in asked.train or "speculators_config" in asked.train:
        return _refuted(NORM_OUTPUT, asked, "speculators means by it what the engine does", "train")
    why = f"{asked.engine} reads {key} and hands on the state after the norm; SpecForge trains "
    return _confirmed(NORM_OUTPUT, why + "with the state before it", key, "train")


def rope(asked: Asked) -> Finding:
    """The base and the kind of rotation that the engine ended up with, against config.json's."""
    declared, key = _theta(asked.config)
    kind = _kind(asked.config)
    truth: tuple[str, ...] = ()
    if asked.train is not None and (trained := _theta(_layer(asked.train))[1]):
        declared, key, truth = (
            _theta(_layer(asked.train))[0],
            f"the training config's {trained}",
            ("train",),
        )
    wrong = [r for r in asked.ropes if float(r[1]) != declared]
    if wrong:
        why = f"{asked.engine} rotates with base {wrong[0][1]:g} ({wrong[0][0]}), "
        why += f"where {key or 'the default'} is {declared:g}"
        return _confirmed(ROPE, why, _field(key), *truth)
    other = [r for r in asked.ropes if _kind({"rope_parameters": r[2]}) != kind]
    if other:
        used = _kind({"rope_parameters": other[0][2]})
        why = f"{asked.engine} scales its rotation as {used!r}, where config.json says {kind!r}"
        return _confirmed(ROPE, why, "rope_scaling")
    if not asked.ropes:
        why = "the class asked for no rotary embedding that could be compared"
        return Finding(ROPE, Verdict.INCONCLUSIVE, Authority.NONE, why)
    return _refuted(ROPE, asked, f"the base is {declared:g} on both sides")


def field_ignored(asked: Asked) -> Finding:
    """A field with an effect that nobody reads."""
    for field, harmless in _FIELDS.items():
        key, value = asked.value(field)
        is_own = field == "target_hidden_size" and value == asked.config.get("hidden_size")
        if key and value not in harmless and not is_own and key not in asked.reads:
            why = f"config.json has {key} = {value!r}, and {asked.engine} never reads it"
            return _confirmed(IGNORED, why, key)
    return _refuted(IGNORED, asked, "every field that changes the draft is read")


def _layer(config: Mapping[str, Any]) -> Mapping[str, Any]:
    nested = config.get("transformer_layer_config")
    return nested if isinstance(nested, dict) else config


def _theta(config: Mapping[str, Any]) -> tuple[float, str]:
    """The declared base and where it stands; the default of transformers if nowhere."""
    nested = config.get("rope_parameters")
    if isinstance(nested, dict) and nested.get("rope_theta") is not None:
        return float(nested["rope_theta"]), "rope_parameters.rope_theta"
    if config.get("rope_theta") is not None:
        return float(config["rope_theta"]), "rope_theta"
    return _DEFAULT_THETA, ""


def _kind(config: Mapping[str, Any]) -> str:
    for key in ("rope_parameters", "rope_scaling"):
        held = config.get(key)
        if isinstance(held, dict):
            return str(held.get("rope_type") or held.get("type") or "default")
    return "default"


def _field(key: str) -> str:
    return "" if " " in key else key


def _confirmed(code: str, why: str, field: str, *truth: str) -> Finding:
    where = (Locator("draft", file="config.json", field=field),)
    return Finding(
        code, Verdict.CONFIRMED, Authority.SOURCE_OF_TRUTH, why, where, ("engine", *truth)
    )


def _refuted(code: str, asked: Asked, why: str, *truth: str) -> Finding:
    return Finding(
        code, Verdict.REFUTED, Authority.SOURCE_OF_TRUTH, f"{why} ({asked.engine})",
        truth=("engine", *truth),
    )  # fmt: skip
