"""The fixes by name, and the edits that each one means for a given finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from hypotree.errors import MisuseError, UnknownNameError
from hypotree.model.declaration import FixChoice
from hypotree.model.edit import (
    CastTensor,
    DeleteField,
    DropTensor,
    Edit,
    InsertTensor,
    MapFrom,
    MinusArange,
    PatchText,
    RenameTensors,
    ReplaceTensor,
    SetField,
    TensorFrom,
    ValueSource,
)
from hypotree.model.evidence import Finding

DEFAULT_TENSOR: Final = "d2t"
DEFAULT_SOURCE: Final = "truth"
#: The fix whose edits are what somebody's own script did to a copy.
SCRIPT: Final = "script"


@dataclass(frozen=True)
class FixRequest:
    """A chosen fix with all that its edits may depend on."""

    choice: FixChoice
    finding: Finding | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Artifact kind of each input or artifact that bytes can be taken from."""
    tensors: tuple[str, ...] = ()
    """The subject's tensors."""


def edits_of(request: FixRequest) -> tuple[Edit, ...]:
    """The edits of a fix; `MisuseError` if it writes nothing, or lacks what it needs to know."""
    name = request.choice.name
    if name not in _MAKERS:
        raise UnknownNameError(f"planning {name!r}", "no such fix", f"one of {', '.join(FIXES)}")
    return _MAKERS[name](request)


def _rename(request: FixRequest) -> tuple[Edit, ...]:
    choice = request.choice
    names = {**_by_prefix(choice.prefixes, request.tensors), **choice.names}
    if names:
        return (RenameTensors(names),)
    found = _remedy(request, RenameTensors)
    if not found:
        raise MisuseError(
            "planning rename-tensors",
            "neither the hypothesis nor its evidence says what to rename to what",
            "run its probe, or declare names or prefixes",
        )
    return found


def _by_prefix(prefixes: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    found = {
        name: new + name.removeprefix(old)
        for old, new in prefixes.items()
        for name in names
        if name.startswith(old)
    }
    if prefixes and not found:
        raise MisuseError("planning rename-tensors", f"no tensor begins with {', '.join(prefixes)}")
    return found


def _to_offsets(request: FixRequest) -> tuple[Edit, ...]:
    tensor = request.choice.tensor or DEFAULT_TENSOR
    return (ReplaceTensor(tensor, MinusArange(tensor)),)


def _restore(request: FixRequest) -> tuple[Edit, ...]:
    tensor = _tensor_of(request)
    return (ReplaceTensor(tensor, _source(request, tensor)),)


def _insert(request: FixRequest) -> tuple[Edit, ...]:
    tensor = _tensor_of(request)
    return (InsertTensor(tensor, _source(request, tensor)),)


def _drop(request: FixRequest) -> tuple[Edit, ...]:
    return (DropTensor(_said(request, "tensor")),)


def _cast(request: FixRequest) -> tuple[Edit, ...]:
    return (CastTensor(_said(request, "tensor"), _said(request, "dtype")),)


def _set_config(request: FixRequest) -> tuple[Edit, ...]:
    choice = request.choice
    if not choice.field:
        found = _remedy(request, SetField, DeleteField)
        if not found:
            raise MisuseError("planning set-config", "neither it nor its finding says which field")
        return found
    path = tuple(choice.field.split("."))
    if isinstance(choice.value, msgspec.UnsetType):
        return (DeleteField(choice.file, path),)
    return (SetField(choice.file, path, choice.value),)


def _patch(request: FixRequest) -> tuple[Edit, ...]:
    return (PatchText(request.choice.file, _said(request, "diff")),)


def _script(_: FixRequest) -> tuple[Edit, ...]:
    raise MisuseError(
        "planning a script", "its edits are known once it has run", "fix plan runs it"
    )


def _advice(request: FixRequest) -> tuple[Edit, ...]:
    raise MisuseError(f"planning {request.choice.name}", "this fix is advice: it writes nothing")


def _remedy(request: FixRequest, *kinds: type[Edit]) -> tuple[Edit, ...]:
    """The edits of these kinds that the finding itself would repair it by."""
    remedy = request.finding.remedy if request.finding else ()
    return tuple(edit for edit in remedy if isinstance(edit, kinds))


def _tensor_of(request: FixRequest) -> str:
    if request.choice.tensor:
        return request.choice.tensor
    for edit in _remedy(request, ReplaceTensor, InsertTensor):
        assert isinstance(edit, ReplaceTensor | InsertTensor)
        return edit.tensor
    return DEFAULT_TENSOR


def _source(request: FixRequest, tensor: str) -> ValueSource:
    name = request.choice.source or DEFAULT_SOURCE
    if name not in request.kinds:
        raise MisuseError(
            f"planning {request.choice.name}",
            f"there is no input {name!r} to take {tensor} from",
            "bind the artifact that holds the right bytes",
        )
    is_map = request.kinds[name] == "vocabulary-map"
    return MapFrom(name) if is_map else TensorFrom(name, tensor)


def _said(request: FixRequest, what: str) -> str:
    value: str = getattr(request.choice, what)
    if not value:
        raise MisuseError(f"planning {request.choice.name}", f"it does not say which {what}")
    return value


_MAKERS: Final[dict[str, Callable[[FixRequest], tuple[Edit, ...]]]] = {
    "rename-tensors": _rename,
    "d2t-to-offsets": _to_offsets,
    "restore-tensor": _restore,
    "insert-tensor": _insert,
    "drop-tensor": _drop,
    "cast-tensor": _cast,
    "set-config": _set_config,
    "patch-text": _patch,
    SCRIPT: _script,
    "advice": _advice,
}
FIXES: Final = tuple(_MAKERS)
