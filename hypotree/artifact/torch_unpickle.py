"""A torch pickle as a tree of plain values: names stay texts, tensors stay references.

No import, no call of anything but the makers of values in torch_globals, no attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from hypotree.artifact.pickle_machine import PickleMachine
from hypotree.artifact.plain import plain
from hypotree.artifact.tensor import DTYPE_BITS
from hypotree.artifact.torch_globals import ALLOWED, CALLS, STORAGES, TORCH_ROOTS, foreign
from hypotree.artifact.torch_values import Name, StorageRef
from hypotree.errors import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SAVE: Final = "save the tensors alone, with torch.save or as safetensors"


class Unpickler(PickleMachine):
    """Reads one pickle of a torch file; `storages` are those that it mentions, by key.

    `load` raises `ForeignPickle` for what torch must decide and `UnreadableError` for code.
    """

    def __init__(self, data: bytes, asked: str, at: int = 0) -> None:
        super().__init__(data, asked, at)
        self.storages: dict[str, StorageRef] = {}

    def _name(self, module: object, name: object) -> None:
        found = Name(str(module), str(name))
        if found.path not in ALLOWED:
            if found.module.partition(".")[0] in TORCH_ROOTS:
                foreign(found.path)
            text = f"it asks for {plain(found.path)}, which is code and was not run"
            raise UnreadableError(self._asked, text, _SAVE)
        self._push(found)

    def _stack_name(self) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._name(module, name)

    def _call(self) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        if not isinstance(function, Name) or type(arguments) is not tuple:
            message = "a call of something that is no function"
            raise TypeError(message)
        if function.path not in CALLS:
            foreign(f"a call of {function.path}")
        self._push(CALLS[function.path](*arguments))

    def _drop_state(self) -> None:
        self._stack.pop()  # `_metadata` of a state dict: no tensor hangs on it
        if type(self._stack[-1]) is not dict:
            foreign("attributes of an object")

    def _storage(self) -> None:
        identity = self._stack.pop()
        if type(identity) is not tuple or len(identity) not in (5, 6) or any(identity[5:]):
            foreign("a storage in an old form")
        word, kind, key, _location, count = identity[:5]
        if word != "storage":
            foreign("an object kept outside the pickle")
        if not isinstance(kind, Name) or kind.path not in STORAGES or type(count) is not int:
            foreign("a storage of an unknown kind")
        dtype = STORAGES[kind.path]
        width = DTYPE_BITS[dtype] // 8 if dtype else 1
        storage = StorageRef(dtype, str(key), count * width)
        if count < 0 or self.storages.setdefault(storage.key, storage) != storage:
            message = f"storage {plain(storage.key)} is described in two ways"
            raise ValueError(message)
        self._push(storage)

    _STEPS: ClassVar[Mapping[int, Callable[[Any], object]]] = {
        **PickleMachine._STEPS,  # noqa: SLF001 - its own base
        ord("c"): lambda self: self._name(self._line(), self._line()),
        0x93: _stack_name,
        ord("R"): _call,
        ord("b"): _drop_state,
        ord("Q"): _storage,
    }
