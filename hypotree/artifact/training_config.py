"""Training configs: what the drafter was trained on, as its trainer wrote it down.

Sources (facts/eagle3.md sections 5 and 8): speculators 0.9.0 `train/config/schema.py` (run YAML:
sections `verifier` and `draft`) and its saved config.json; SpecForge 0.2.0 `config/schema.py`
(sections `model` and `training`) and its draft config JSON; EAGLE's config.json; ModelOpt's
`hf_spec_configs.py`. Each numbers the target's layers its own way; `physical` undoes that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from hypotree.artifact.base import Artifact
from hypotree.artifact.documents import as_mapping, read_json, read_yaml
from hypotree.errors import UnreadableError

IDS: Final = "eagle_aux_hidden_state_layer_ids"
#: What a producer writes for the output of layer j, less j: 1 where 0 stands for the embeddings.
NUMBERING: Final = {"speculators": 1, "eagle": 1, "specforge": 0, "modelopt": 0}
#: Keys of ModelOpt's eagle_config that no other producer writes (hf_spec_configs.py:20-56).
_MODELOPT_KEYS: Final = ("use_last_layernorm", "next_layer_regular", "parallel_draft_step",
                         "use_input_layernorm_in_first_layer", "use_mtp_layernorm")  # fmt: skip
_FLAGS: Final = ("norm_before_residual", "norm_before_fc", "fc_norm", "norm_output")
_SAVED: Final = "config.json"
_RUN_FILES: Final = ("train_config.yaml", "config.yaml", "run.yaml")


@dataclass(frozen=True)
class TrainRecord:
    """One training config; None where it does not say."""

    producer: str
    """`speculators`, `specforge`, `eagle`, `modelopt`."""
    form: str
    """`run` for a trainer's run file, `config` for a draft's config.json."""
    fields: Mapping[str, object]
    """The draft's own fields; speculators' nested decoder config is left where it is."""
    aux_ids: tuple[int, ...] | None
    """Auxiliary layer ids as they are written."""
    aux_field: str
    """Where they are written."""
    target: str
    """Path or hub id of the target, "" if it is not named."""

    @property
    def numbering(self) -> int:
        """What stands for the output of layer j, less j."""
        return NUMBERING[self.producer]

    @property
    def physical(self) -> tuple[int, ...] | None:
        """The layers whose outputs were joined, from 0; -1 are the embeddings."""
        return None if self.aux_ids is None else tuple(i - self.numbering for i in self.aux_ids)

    def flag(self, name: str) -> bool | None:
        """A norm flag, at top level or in eagle_config."""
        value = _mapping(self.fields.get("eagle_config")).get(name, self.fields.get(name))
        return value if isinstance(value, bool) else None

    def flags(self) -> dict[str, bool]:
        """Every norm flag that is said."""
        return {name: value for name in _FLAGS if (value := self.flag(name)) is not None}

    def number(self, name: str) -> int | None:
        """An integer field, nested decoder config included."""
        nested = _mapping(self.fields.get("transformer_layer_config"))
        value = self.fields.get(name, nested.get(name))
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def default_physical(layers: int) -> tuple[int, int, int]:
    """The layers that every producer joins if none are named (facts section 5)."""
    return (1, layers // 2 - 1, layers - 4)


class TrainingConfig(Artifact):
    """One training config: a YAML or JSON file, or the folder that holds it."""

    kind: ClassVar[str] = "training-config"

    def record(self) -> TrainRecord:
        """What it says; `UnreadableError` for a document of no known trainer."""
        found = train_record(self.mapping())
        if found is None:
            raise UnreadableError(
                f"reading {self.locator} as a training config",
                "it is none of speculators, SpecForge, EAGLE or ModelOpt",
                "give the run's YAML, or the config.json that training saved",
            )
        return found

    @property
    def name(self) -> str:
        """The file that is read; config.json of a folder, unless a run file lies there."""
        path = Path(self.locator)
        if not path.is_dir():
            return path.name
        return next((name for name in _RUN_FILES if self.tree.has(name)), _SAVED)

    def mapping(self) -> Mapping[str, object]:
        """The whole document, noted; `UnreadableError` if there is none."""
        name = self.name
        file = self.file(name)
        if file is None:
            raise UnreadableError(
                f"reading {self.locator} as a training config",
                f"there is no {name}",
                "give the run's YAML or JSON file, or the folder of the saved config.json",
            )
        read = read_yaml if name.endswith((".yaml", ".yml")) else read_json
        return as_mapping(read(file, name), name)

    def members(self) -> tuple[str, ...]:
        """The one file that is read."""
        return (self.name,)


def train_record(document: Mapping[str, object]) -> TrainRecord | None:
    """What a document says as a training config; None if it is none that we know."""
    draft, model = _mapping(document.get("draft")), _mapping(document.get("model"))
    if draft and "verifier" in document:
        target = _mapping(document["verifier"]).get("verifier_name_or_path")
        ids = _ids(draft.get("target_layer_ids"))
        return TrainRecord(
            "speculators", "run", draft, ids, "draft.target_layer_ids", _text(target)
        )
    if "target_model_path" in model or "draft_model_config" in model:
        ids = _ids(model.get("aux_hidden_state_layer_ids"))
        target = model.get("target_model_path")
        return TrainRecord(
            "specforge", "run", model, ids, "model.aux_hidden_state_layer_ids", _text(target)
        )
    return _draft_config(document)


def _draft_config(document: Mapping[str, object]) -> TrainRecord | None:
    if "speculators_model_type" in document or "speculators_config" in document:
        verifier = _mapping(_mapping(document.get("speculators_config")).get("verifier"))
        target = _text(verifier.get("name_or_path"))
        return TrainRecord("speculators", "config", document, _ids(document.get(IDS)), IDS, target)
    eagle = _mapping(document.get("eagle_config"))
    if eagle:
        producer = "modelopt" if any(key in eagle for key in _MODELOPT_KEYS) else "specforge"
        ids, field = _ids(eagle.get(IDS)), f"eagle_config.{IDS}"
        return TrainRecord(producer, "config", document, ids, field, "")
    if "draft_vocab_size" in document and IDS not in document:
        # EAGLE writes no ids: its three layers stand in its code (modeling_llama_kv.py:1137-1139).
        return TrainRecord("eagle", "config", document, None, "", "")
    return None


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _ids(value: object) -> tuple[int, ...] | None:
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        return tuple(value)
    return None
