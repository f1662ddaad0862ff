"""Where an edit's new bytes come from: the truth artifact, or the subject's own values."""

from __future__ import annotations

from collections.abc import Mapping

from hypotree.artifact.base import Artifact
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.map_form import decide_form
from hypotree.artifact.tensor import TensorValue
from hypotree.artifact.vocabulary_map import VocabularyMap
from hypotree.errors import MisuseError
from hypotree.model.edit import MapFrom, MinusArange, TensorFrom, ValueSource


def resolve(
    source: ValueSource, dtype: str, subject: Checkpoint, artifacts: Mapping[str, Artifact]
) -> TensorValue:
    """The tensor that `source` stands for, in `dtype` where it holds ids."""
    if isinstance(source, MinusArange):
        return _minus_arange(source.tensor, subject)
    artifact = artifacts.get(source.input)
    if artifact is None:
        raise MisuseError("planning a fix", f"its source {source.input!r} is not bound")
    if isinstance(source, MapFrom):
        return _offsets(artifact, dtype, subject)
    return _copied(source, artifact)


def _minus_arange(tensor: str, subject: Checkpoint) -> TensorValue:
    value = subject.tensor(tensor)
    if value is None or not value.is_integer:
        raise MisuseError("planning d2t-to-offsets", f"there is no integer tensor {tensor!r}")
    shifted = [v - i for i, v in enumerate(value.integers())]
    return TensorValue.of_integers(value.dtype, value.shape, shifted)


def _offsets(artifact: Artifact, dtype: str, subject: Checkpoint) -> TensorValue:
    if not isinstance(artifact, VocabularyMap):
        raise MisuseError("planning a fix", f"{artifact.locator} is no vocabulary map")
    found = artifact.stored()
    marked = None
    if found.t2d is not None:
        marked = [i for i, value in enumerate(found.t2d.integers()) if value]
    form = decide_form(
        found.d2t.integers() if found.d2t else None, marked, _vocabulary(subject), artifact.form
    )
    if form.targets is None:
        raise MisuseError(
            f"taking the map from {artifact.locator}", form.why, "say form: offsets or absolute"
        )
    offsets = [t - i for i, t in enumerate(form.targets)]
    return TensorValue.of_integers(dtype, (len(offsets),), offsets)


def _vocabulary(subject: Checkpoint) -> int | None:
    config = subject.config()
    for place in (config, config.get("transformer_layer_config"), config.get("text_config")):
        size = place.get("vocab_size") if isinstance(place, Mapping) else None
        if isinstance(size, int):
            return size
    return None


def _copied(source: TensorFrom, artifact: Artifact) -> TensorValue:
    value = artifact.tensor(source.tensor) if isinstance(artifact, Checkpoint) else None
    if value is None:
        raise MisuseError(f"taking {source.tensor!r} from {artifact.locator}", "it is not there")
    return value
