"""The names that a torch file may mention, and what each stands for: values, never code.

The list is a part of torch's own for `weights_only` (torch 2.13, `_weights_only_unpickler.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from hypotree.artifact.torch_values import Name, StorageRef, TensorRef

if TYPE_CHECKING:
    from collections.abc import Callable


class ForeignPickle(Exception):  # noqa: N818 - not an error: the question goes to torch
    """The pickle uses what torch may allow and this reader does not know."""


def foreign(what: str) -> NoReturn:
    """Leaves the question to torch."""
    raise ForeignPickle(what)


#: torch's storage classes (torch/__init__.py) by safetensors' dtype names.
STORAGES: Final = {
    "torch.DoubleStorage": "F64", "torch.FloatStorage": "F32", "torch.HalfStorage": "F16",
    "torch.BFloat16Storage": "BF16", "torch.LongStorage": "I64", "torch.IntStorage": "I32",
    "torch.ShortStorage": "I16", "torch.CharStorage": "I8", "torch.ByteStorage": "U8",
    "torch.BoolStorage": "BOOL", "torch.ComplexFloatStorage": "C64",
    "torch.storage.UntypedStorage": "",
}  # fmt: skip

#: torch's dtypes by safetensors' names (safetensors/torch.py `_TYPES`), whole-byte ones.
DTYPES: Final = {
    "torch.float64": "F64", "torch.float32": "F32", "torch.float16": "F16",
    "torch.bfloat16": "BF16", "torch.int64": "I64", "torch.int32": "I32", "torch.int16": "I16",
    "torch.int8": "I8", "torch.uint8": "U8", "torch.uint16": "U16", "torch.uint32": "U32",
    "torch.uint64": "U64", "torch.bool": "BOOL", "torch.complex64": "C64",
    "torch.float8_e4m3fn": "F8_E4M3", "torch.float8_e5m2": "F8_E5M2",
    "torch.float8_e4m3fnuz": "F8_E4M3FNUZ", "torch.float8_e5m2fnuz": "F8_E5M2FNUZ",
    "torch.float8_e8m0fnu": "F8_E8M0",
}  # fmt: skip

#: Top modules of torch's own list: what lies outside no torch would load with weights_only either.
TORCH_ROOTS: Final = frozenset({"torch", "collections", "_codecs", "builtins", "__builtin__"})


def _tensor(storage: object, offset: object, shape: object, strides: object, dtype: str) -> object:
    if not isinstance(storage, StorageRef) or not isinstance(offset, int) or offset < 0:
        message = "a tensor is rebuilt from something else than a storage and an offset"
        raise ValueError(message)
    return TensorRef(storage, dtype, offset, _sizes(shape), _sizes(strides, len(_sizes(shape))))


def _sizes(value: object, rank: int | None = None) -> tuple[int, ...]:
    """`value` as a tuple of sizes below 2^63, of `rank` where given."""
    sizes = tuple(value) if isinstance(value, (tuple, list)) else None
    sound = sizes is not None and all(type(n) is int and 0 <= n < 2**63 for n in sizes)
    if sizes is None or not sound or len(sizes) > 64 or rank not in (None, len(sizes)):
        message = "a tensor's shape and strides are not sizes"
        raise ValueError(message)
    return sizes


def _rebuild_v2(
    storage: object, offset: object, shape: object, strides: object, *_: object
) -> object:
    if not isinstance(storage, StorageRef) or not storage.dtype:
        message = "a tensor is rebuilt from something else than a typed storage"
        raise ValueError(message)
    return _tensor(storage, offset, shape, strides, storage.dtype)


def _rebuild_v3(  # torch._utils._rebuild_tensor_v3: the dtype comes last, the storage is bytes
    storage: object, offset: object, shape: object, strides: object, _grad: object, _hooks: object,
    dtype: object, *_: object,
) -> object:  # fmt: skip
    if not isinstance(dtype, Name) or dtype.path not in DTYPES:
        message = "a tensor is rebuilt with something else than a dtype"
        raise ValueError(message)
    return _tensor(storage, offset, shape, strides, DTYPES[dtype.path])


def _parameter(data: object, *_: object) -> object:
    return data


def _as_list(items: object) -> object:
    if not isinstance(items, (list, tuple)):
        message = "a torch.Size of something else than sizes"
        raise TypeError(message)
    return list(items)


def _as_text(*parts: object) -> object:
    return ":".join(str(part) for part in parts if isinstance(part, (str, int)))


def _ordered(*arguments: object) -> object:
    if arguments:
        foreign("an OrderedDict in Python 2's form")
    return {}


#: What may be called, and what is called in its place. Functions here make values and nothing else.
CALLS: Final[dict[str, Callable[..., object]]] = {
    "torch._utils._rebuild_tensor": _rebuild_v2,
    "torch._utils._rebuild_tensor_v2": _rebuild_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild_v3,
    "torch._utils._rebuild_parameter": _parameter,
    "torch.Size": _as_list,
    "torch.device": _as_text,
    "collections.OrderedDict": _ordered,
}

ALLOWED: Final = frozenset({*STORAGES, *DTYPES, *CALLS})
