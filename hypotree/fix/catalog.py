"""The fixes by name, and the edits that each one means for a given finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hypotree.errors import MisuseError, UnknownNameError
from hypotree.model.declaration import FixChoice
from hypotree.model.edit import (
    Edit,
    InsertTensor,
    MapFrom,
    MinusArange,
    RenameTensors,
    ReplaceTensor,
    TensorFrom,
    ValueSource,
)
from hypotree.model.evidence import Finding

DEFAULT_TENSOR: Final = "d2t"
DEFAULT_SOURCE: Final = "truth"


def edits_of(
    choice: FixChoice, finding: Finding | None, kinds: Mapping[str, str]
) -> tuple[Edit, ...]:
    """The edits of a chosen fix. `kinds` gives the artifact kind of each bound input.

    `MisuseError` if the fix writes nothing, or lacks what it needs to know.
    """
    maker = _MAKERS.get(choice.name)
    if maker is None:
        raise UnknownNameError(
            f"planning {choice.name!r}", "no such fix", f"one of {', '.join(FIXES)}"
        )
    return maker(choice, finding, kinds)


def _rename(choice: FixChoice, finding: Finding | None, _: Mapping[str, str]) -> tuple[Edit, ...]:
    if choice.names:
        return (RenameTensors(choice.names),)
    found = [e for e in (finding.remedy if finding else ()) if isinstance(e, RenameTensors)]
    if not found:
        raise MisuseError(
            "planning rename-tensors",
            "neither the hypothesis nor its evidence says what to rename to what",
            "run its probe, or declare names",
        )
    return tuple(found)


def _to_offsets(choice: FixChoice, _: Finding | None, __: Mapping[str, str]) -> tuple[Edit, ...]:
    tensor = choice.tensor or DEFAULT_TENSOR
    return (ReplaceTensor(tensor, MinusArange(tensor)),)


def _restore(
    choice: FixChoice, finding: Finding | None, kinds: Mapping[str, str]
) -> tuple[Edit, ...]:
    tensor = choice.tensor or _tensor_of(finding)
    return (ReplaceTensor(tensor, _source(choice, tensor, kinds)),)


def _insert(
    choice: FixChoice, finding: Finding | None, kinds: Mapping[str, str]
) -> tuple[Edit, ...]:
    tensor = choice.tensor or _tensor_of(finding)
    return (InsertTensor(tensor, _source(choice, tensor, kinds)),)


def _advice(choice: FixChoice, _: Finding | None, __: Mapping[str, str]) -> tuple[Edit, ...]:
    raise MisuseError(f"planning {choice.name}", "this fix is advice: it writes nothing")


def _tensor_of(finding: Finding | None) -> str:
    for edit in finding.remedy if finding else ():
        if isinstance(edit, ReplaceTensor | InsertTensor):
            return edit.tensor
    return DEFAULT_TENSOR


def _source(choice: FixChoice, tensor: str, kinds: Mapping[str, str]) -> ValueSource:
    name = choice.source or DEFAULT_SOURCE
    if name not in kinds:
        raise MisuseError(
            f"planning {choice.name}",
            f"there is no input {name!r} to take {tensor} from",
            "bind the artifact that holds the right bytes",
        )
    return MapFrom(name) if kinds[name] == "vocabulary-map" else TensorFrom(name, tensor)


Maker = Callable[[FixChoice, "Finding | None", Mapping[str, str]], "tuple[Edit, ...]"]
_MAKERS: Final[dict[str, Maker]] = {
    "rename-tensors": _rename,
    "d2t-to-offsets": _to_offsets,
    "restore-tensor": _restore,
    "insert-tensor": _insert,
    "advice": _advice,
}
FIXES: Final = tuple(_MAKERS)
