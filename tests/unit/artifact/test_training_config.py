"""Training configs of four producers, each with its own way of counting layers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypotree.artifact.training_config import (
    TrainingConfig,
    TrainRecord,
    default_physical,
    train_record,
)
from hypotree.errors import UnreadableError

PRODUCERS = Path(__file__).resolve().parents[2] / "cases" / "producers"
IDS = "eagle_aux_hidden_state_layer_ids"


def read(folder: Path, document: dict[str, Any], name: str = "run.yaml") -> TrainRecord:
    path = folder / name
    text = yaml.safe_dump(document) if name.endswith("yaml") else json.dumps(document)
    path.write_text(text)
    return TrainingConfig(str(path)).record()


@pytest.mark.parametrize(
    ("document", "producer", "physical"),
    [
        # HF's counting: 0 are the embeddings (facts section 5).
        ({"verifier": {"verifier_name_or_path": "org/m"}, "draft": {"target_layer_ids": [2, 14, 25]}},
         "speculators", (1, 13, 24)),
        ({"speculators_model_type": "eagle3", IDS: [2, 14, 25]}, "speculators", (1, 13, 24)),
        # The decoder layers' own: 0 is the first one's output.
        ({"model": {"target_model_path": "org/m", "aux_hidden_state_layer_ids": [1, 13, 24]}},
         "specforge", (1, 13, 24)),
        ({"draft_vocab_size": 8, "eagle_config": {IDS: [1, 13, 24]}}, "specforge", (1, 13, 24)),
        ({"eagle_config": {IDS: [1, 13, 24], "use_last_layernorm": True}}, "modelopt", (1, 13, 24)),
        ({"draft_vocab_size": 32000, "hidden_size": 64}, "eagle", None),
        ({"verifier": {}, "draft": {"num_layers": 1}}, "speculators", None),
    ],
)  # fmt: skip
def test_ids_are_given_as_layers_whose_outputs_were_joined(
    tmp_path: Path, document: dict[str, Any], producer: str, physical: tuple[int, ...] | None
) -> None:
    record = read(tmp_path, document)
    assert (record.producer, record.physical) == (producer, physical)


def test_two_producers_mean_the_same_layers_by_other_numbers(tmp_path: Path) -> None:
    one = read(tmp_path, {"speculators_config": {}, IDS: [2, 14, 25]}, "a.json")
    other = read(tmp_path, {"eagle_config": {IDS: [1, 13, 24]}}, "b.json")
    assert one.aux_ids != other.aux_ids
    assert one.physical == other.physical == default_physical(28)


@pytest.mark.parametrize(
    ("name", "producer"), [("speculators-0.9.0-llama", "speculators"), ("specforge-0.2.0", "specforge")]
)  # fmt: skip
def test_the_real_producers_are_known_and_mean_their_default(name: str, producer: str) -> None:
    record = TrainingConfig(str(PRODUCERS / name)).record()
    assert record.producer == producer
    assert record.physical == default_physical(8)
    assert record.number("vocab_size") == 128


def test_flags_are_read_where_they_stand(tmp_path: Path) -> None:
    document = {"draft_vocab_size": 8, "norm_output": False,
                "eagle_config": {"norm_before_fc": True, "norm_output": True}}  # fmt: skip
    assert read(tmp_path, document).flags() == {"norm_before_fc": True, "norm_output": True}


@pytest.mark.parametrize(
    "document", [{}, {"model": 3}, {"lr": 1e-3}, {IDS: [1]}, {"draft_vocab_size": 8, IDS: [1]}]
)
def test_what_no_known_trainer_wrote_is_none(document: dict[str, Any]) -> None:
    assert train_record(document) is None


def test_a_folder_without_one_and_a_foreign_file_are_said(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"there is no config\.json"):
        TrainingConfig(str(tmp_path)).record()
    (tmp_path / "config.json").write_text('{"lr": 1}')
    with pytest.raises(UnreadableError, match="none of speculators"):
        TrainingConfig(str(tmp_path)).record()


def test_what_was_read_is_noted_whole(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("verifier: {}\ndraft: {num_layers: 1}\n")
    config = TrainingConfig(str(tmp_path))
    config.record()
    assert [(read.kind, read.name) for read in config.reads] == [("file", "run.yaml")]
    assert config.reads[0].sha256 == config.digest_of("file", "run.yaml")
