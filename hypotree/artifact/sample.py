"""Recorded samples: hidden states of the target with the tokens they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from hypotree.artifact.base import Artifact
from hypotree.artifact.safetensors_header import read_header
from hypotree.artifact.tensor import TensorValue, byte_size
from hypotree.artifact.torch_file import read_torch_file
from hypotree.errors import UnreadableError

#: The same thing under each producer's key (facts: SpecForge 0.2.0 algorithms/eagle3/data.py,
#: speculators 0.9.0 train/data.py, ModelOpt eagle/utils.py). SpecForge's `aux_hidden_state`
#: and `hidden_state` are singular and carry a batch axis of one.
_TOKENS = ("input_ids", "token_ids")
_AUX = ("aux_hidden_states", "aux_hidden_state")
_SHIFTED = {-1: "aux_hidden_states_minus1", 1: "aux_hidden_states_plus1"}
_FINAL = ("hidden_states", "hidden_state")


@dataclass(frozen=True)
class SampleRecord:
    """Tokens [T], concatenated aux states [T, n_aux*H] and the final state [T, H]; each may be None."""

    tokens: TensorValue | None
    aux: TensorValue | None
    final: TensorValue | None
    shifted: Mapping[int, TensorValue] = field(default_factory=dict)
    """Aux states captured some layers later (+1) or earlier (-1), where somebody kept them."""
    mask: TensorValue | None = None
    """The loss mask [T]."""
    producer: str = ""
    """Whose form it is, by its keys: specforge, speculators or modelopt; "" if none of them."""

    @property
    def handed_width(self) -> int | None:
        """The width of the states that a drafter was handed: the aux states, else the final one."""
        state = self.aux or self.final
        return state.shape[-1] if state and state.shape else None


class Sample(Artifact):
    """One sample file: speculators .safetensors, SpecForge .ckpt, ModelOpt .pt."""

    kind: ClassVar[str] = "sample"

    def record(self) -> SampleRecord:
        """The sample's tensors by what they are, whoever wrote them."""
        name = Path(self.locator).name
        tensors = self._tensors(name)
        self.note("file", name, self._file_digest(name))
        tokens, aux, final = (_first(tensors, keys) for keys in (_TOKENS, _AUX, _FINAL))
        if (
            aux is None
            and final is not None
            and len(final.shape) == 3
            and final.shape[0] != 1 < final.shape[1]
        ):
            aux, final = _split_stack(final)
        if aux is None and final is None:
            raise UnreadableError(
                f"reading {self.locator} as a sample",
                "it holds no hidden states",
                f"its keys are {', '.join(sorted(tensors)[:8]) or 'none'}",
            )
        shifted = {
            by: flat
            for by, key in _SHIFTED.items()
            if (flat := _flat(tensors.get(key), 2)) is not None
        }
        return SampleRecord(
            _flat(tokens, 1),
            _flat(aux, 2),
            _flat(final, 2),
            shifted,
            _flat(tensors.get("loss_mask"), 1),
            _producer(tensors),
        )

    def _tensors(self, name: str) -> dict[str, TensorValue]:
        file = self.tree.open(name)
        if name.endswith(".safetensors"):
            return {
                key: TensorValue(at.dtype, at.shape, file.read(at.begin, at.end - at.begin))
                for key, at in read_header(file, name).tensors.items()
            }
        loaded = read_torch_file(file, name)
        if not isinstance(loaded, dict):
            raise UnreadableError(f"reading {self.locator} as a sample", "it is not a dict")
        return {str(k): v for k, v in loaded.items() if isinstance(v, TensorValue)}


def _producer(tensors: dict[str, TensorValue]) -> str:
    """By the keys that only one of them writes."""
    if "aux_hidden_state" in tensors:
        return "specforge"
    if "token_ids" in tensors:
        return "speculators"
    return "modelopt" if "aux_hidden_states" in tensors else ""


def _first(tensors: dict[str, TensorValue], keys: tuple[str, ...]) -> TensorValue | None:
    return next((tensors[key] for key in keys if key in tensors), None)


def _flat(value: TensorValue | None, axes: int) -> TensorValue | None:
    """Drop a leading batch axis of one."""
    if value is not None and len(value.shape) == axes + 1 and value.shape[0] == 1:
        return TensorValue(value.dtype, value.shape[1:], value.data)
    return value


def _split_stack(stack: TensorValue) -> tuple[TensorValue, TensorValue]:
    """speculators' [T, n_aux+1, H]: the last slot is the final state, before its norm."""
    rows, slots, width = stack.shape
    size = byte_size(stack.dtype, (width,))
    cut = size * (slots - 1)
    steps = [
        stack.data[i : i + size * slots] for i in range(0, len(stack.data), max(size * slots, 1))
    ]
    aux = b"".join(step[:cut] for step in steps)
    final = b"".join(step[cut:] for step in steps)
    return (
        TensorValue(stack.dtype, (rows, (slots - 1) * width), aux),
        TensorValue(stack.dtype, (rows, width), final),
    )
