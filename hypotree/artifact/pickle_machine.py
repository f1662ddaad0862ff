"""The part of a pickle that makes plain values, as a machine over bytes, a stack and a memo.

The opcodes are those that torch.save writes (torch 2.13, `_weights_only_unpickler.py`), with the
short forms of protocol 4. Nothing here imports, calls or looks up an attribute. Python's own
Unpickler with a closed `find_class` would not do: it sets attributes of whatever `find_class`
returned (BUILD), takes gigabytes for one memo index and hashes tuples nested as deep as the file
likes.
"""

from __future__ import annotations

from struct import unpack
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hypotree.artifact.plain import plain
from hypotree.artifact.torch_globals import foreign
from hypotree.errors import LimitError, MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_OPCODES: Final = 10_000_000
_STOP: Final = ord(".")


class PickleMachine:
    """Reads one pickle of `data` from `at`; afterwards `at` is the offset behind it."""

    def __init__(self, data: bytes, asked: str, at: int = 0) -> None:
        self.at = at
        self._data = data
        self._asked = asked
        self._stack: list[object] = []
        self._below: list[list[object]] = []
        self._memo: dict[int, object] = {}

    def load(self) -> object:
        """The value; `ForeignPickle` at an unknown opcode, `MalformedError` at a broken one."""
        try:
            for _ in range(MAX_OPCODES):
                code = self._number(1)
                if code == _STOP:
                    return self._stack.pop()
                step = self._STEPS.get(code) or foreign(f"opcode {code:#04x}")
                step(self)
        except (ValueError, TypeError, IndexError, KeyError) as error:
            found = f"its pickle breaks its own rules near byte {self.at}: {plain(str(error))}"
            raise MalformedError(
                self._asked, found, "the file is damaged: save it again"
            ) from error
        raise LimitError(self._asked, f"its pickle has over {MAX_OPCODES} steps", "save less in it")

    def _take(self, count: int) -> bytes:
        piece = self._data[self.at : self.at + count]
        if len(piece) != count:
            message = "it ends in the middle"
            raise ValueError(message)
        self.at += count
        return piece

    def _number(self, width: int) -> int:
        return int.from_bytes(self._take(width), "little")

    def _push(self, value: object) -> None:
        self._stack.append(value)

    def _integer(self, width: int) -> None:
        self._push(int.from_bytes(self._take(width), "little", signed=True))

    def _text(self, width: int) -> None:
        self._push(self._take(self._number(width)).decode("utf-8"))

    def _line(self) -> str:
        end = self._data.index(b"\n", self.at, self.at + 1000)
        return self._take(end + 1 - self.at)[:-1].decode("utf-8")

    def _mark(self) -> None:
        self._below.append(self._stack)
        self._stack = []

    def _to_mark(self) -> list[object]:
        items, self._stack = self._stack, self._below.pop()
        return items

    def _tuple(self, count: int) -> None:
        items = [self._stack.pop() for _ in range(count)]
        self._push(tuple(reversed(items)))

    def _remember(self, index: int) -> None:
        self._memo[index] = self._stack[-1]

    def _append(self, items: list[object]) -> None:
        target = self._stack[-1]
        if type(target) is not list:
            message = f"appending to a {type(target).__name__}"
            raise TypeError(message)
        target.extend(items)

    def _set(self, items: list[object]) -> None:
        target = self._stack[-1]
        keys = items[::2]
        # Keys of other types would run their own comparisons, or hash as deep as the file likes.
        if type(target) is not dict or not all(type(key) in (str, int) for key in keys):
            message = "a mapping with keys that are neither text nor numbers"
            raise TypeError(message)
        target.update(zip(keys, items[1::2], strict=True))

    def _set_one(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set([key, value])

    _STEPS: ClassVar[Mapping[int, Callable[[Any], object]]] = {
        0x80: lambda self: self._take(1),  # PROTO
        0x95: lambda self: self._take(8),  # FRAME
        ord("("): _mark,
        ord("N"): lambda self: self._push(None),
        0x88: lambda self: self._push(True),  # noqa: FBT003 - NEWTRUE
        0x89: lambda self: self._push(False),  # noqa: FBT003 - NEWFALSE
        ord("J"): lambda self: self._integer(4),
        ord("K"): lambda self: self._push(self._number(1)),
        ord("M"): lambda self: self._push(self._number(2)),
        0x8A: lambda self: self._integer(self._number(1)),  # LONG1
        ord("G"): lambda self: self._push(unpack(">d", self._take(8))[0]),
        ord("X"): lambda self: self._text(4),
        ord("U"): lambda self: self._text(1),  # Python 2's str
        0x8C: lambda self: self._text(1),  # SHORT_BINUNICODE
        ord("B"): lambda self: self._push(self._take(self._number(4))),
        ord("C"): lambda self: self._push(self._take(self._number(1))),
        ord(")"): lambda self: self._push(()),
        ord("]"): lambda self: self._push([]),
        ord("}"): lambda self: self._push({}),
        ord("t"): lambda self: self._push(tuple(self._to_mark())),
        0x85: lambda self: self._tuple(1),
        0x86: lambda self: self._tuple(2),
        0x87: lambda self: self._tuple(3),
        ord("a"): lambda self: self._append([self._stack.pop()]),
        ord("e"): lambda self: self._append(self._to_mark()),
        ord("s"): _set_one,
        ord("u"): lambda self: self._set(self._to_mark()),
        ord("q"): lambda self: self._remember(self._number(1)),
        ord("r"): lambda self: self._remember(self._number(4)),
        0x94: lambda self: self._remember(len(self._memo)),  # MEMOIZE
        ord("h"): lambda self: self._push(self._memo[self._number(1)]),
        ord("j"): lambda self: self._push(self._memo[self._number(4)]),
    }
