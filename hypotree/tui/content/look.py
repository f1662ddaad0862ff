"""How a standing looks: a sign, a word and a role, so that no meaning hangs on colour alone."""

from __future__ import annotations

from typing import Final

from hypotree.model.verdict import Verdict
from hypotree.tree.standing import Standing
from hypotree.tui.lines import Role, Span, said

_SIGNS: Final[dict[str, tuple[str, Role]]] = {
    Standing.UNTESTED: (".", "dim"),
    Standing.STALE: ("~", "warn"),
    Standing.CONFIRMED: ("!", "bad"),
    Standing.SUSPECTED: ("?", "warn"),
    Standing.REFUTED: ("x", "good"),
    Standing.FIXED_MOVED: ("+", "good"),
    Standing.FIXED_UNMOVED: ("=", "warn"),
    Standing.FIXED_NOT_MEASURED: ("=", "warn"),
    Standing.FIXED_WORSE: ("-", "bad"),
}
_VERDICTS: Final[dict[Verdict, Role]] = {
    Verdict.CONFIRMED: "bad",
    Verdict.REFUTED: "good",
    Verdict.NOT_RUN: "dim",
}
#: The choices of the filter, in the order in which they are offered.
STANDINGS: Final = tuple(str(standing) for standing in Standing)


def sign(standing: str) -> Span:
    """One character for a standing."""
    mark, role = _SIGNS.get(standing, ("o", "warn"))
    return Span(mark, role)


def word(standing: str) -> Span:
    """The standing itself."""
    return said(standing, _SIGNS.get(standing, ("o", "warn"))[1])


def verdict(found: Verdict) -> Span:
    """A verdict, padded so that findings line up."""
    return said(f"{found:<13}", _VERDICTS.get(found, "warn"))
