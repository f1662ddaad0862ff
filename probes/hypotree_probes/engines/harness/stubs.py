"""Stubs: what was not loaded may be named, called and passed on, but never asked for an answer.

A stub's truth, length, items, number or comparison would be a guess, so asking for one ends
the question with `Undecidable`: the answer is then INCONCLUSIVE, with the stub's name.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn


class Undecidable(BaseException):
    """The engine asked something that only the real module could answer.

    A BaseException, so that the engine's own `except Exception` cannot make an answer of it.
    """


#: Names of the stubs that were touched, in order.
TOUCHED: dict[str, None] = {}


class Stub:
    """Something that stands at the place of `name`."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_stub_name", name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _touched(f"{self._stub_name}.{name}")

    def __call__(self, *arguments: object, **__: object) -> Any:
        """Another stub; one that cannot be called where it decorates the engine's own code."""
        if any(map(_is_engines, arguments)):
            return Decorated(f"{self._stub_name}()")
        return _touched(f"{self._stub_name}()")

    def __repr__(self) -> str:
        return f"<stub {self._stub_name}>"

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        del bases
        return (unknown_base(self._stub_name),)

    def __enter__(self) -> Any:
        return _touched(f"{self._stub_name}.__enter__()")

    def __exit__(self, *_: object) -> None:
        return None

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise Undecidable(f"the engine asks {self._stub_name}, which was not loaded")

    # In annotations only (`X | None`), where nothing is decided by it.
    def __or__(self, other: object) -> Any:
        return _touched(f"{self._stub_name} | {type(other).__name__}")

    __ror__ = __or__
    __bool__ = __len__ = __iter__ = __contains__ = __next__ = _refuse
    __int__ = __float__ = __index__ = _refuse
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = __neg__ = __and__ = _refuse

    def __eq__(self, other: object) -> bool:
        return self is other if _is_typing() else self._refuse()

    def __hash__(self) -> int:
        return id(self) if _is_typing() else self._refuse()

    def __getitem__(self, key: object) -> Any:
        # `Optional[stub]` and `List[stub]` never come here; `stub[int]` is a generic alias.
        if isinstance(key, (type, Stub)) or key is None:
            return _touched(f"{self._stub_name}[...]")
        return self._refuse()


class Decorated(Stub):
    """What a stub makes of a function of the engine's: to call it would skip the engine's code."""

    def __call__(self, *_: object, **__: object) -> Any:
        """Never: that would answer without running what was asked about."""
        return self._refuse()


class Mute(Stub):
    """A stub that does not even have attributes: `hasattr` on it would be an answer."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    def __setattr__(self, name: str, value: object) -> None:
        self._refuse()


def _is_engines(value: object) -> bool:
    """Whether a value is a function that the engine's files define."""
    code = getattr(value, "__code__", None)
    return str(getattr(code, "co_filename", "")).startswith("<engine>/")


def _is_typing() -> bool:
    """Whether `Optional[...]` and its like ask, which compare types and decide nothing."""
    return sys._getframe(2).f_globals.get("__name__") == "typing"  # noqa: SLF001


def stub(name: str) -> Stub:
    """A stub that counts as touched once it is used."""
    return Stub(name)


def _touched(name: str) -> Stub:
    TOUCHED[name.partition("(")[0]] = None
    return Stub(name)


def unknown_base(name: str) -> type:
    """The base class of a class whose real base was not loaded: it may be named, not asked."""

    class Unknown:
        def __init__(self, *_: object, **__: object) -> None:
            raise Undecidable(f"{type(self).__name__} derives from {name}, which was not loaded")

    return Unknown
