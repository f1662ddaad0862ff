"""Data made safe to show: what a file says may not move the cursor, hide or pose as our words."""

from __future__ import annotations

from typing import Final

#: Printable for `str.isprintable`, yet invisible or joining: fillers, joiners, variation selectors.
_INVISIBLE: Final = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0]
) | frozenset(range(0xFE00, 0xFE10))


def plain(text: str, limit: int = 200) -> str:
    r"""`text` on one line with every character visible, at most `limit` characters (at least 8).

    Control characters, line ends, escape codes, zero-width and bidirectional marks, lone
    surrogates and unassigned code points become `\x1b`, `\u202e`, `\U000e0001`. What is too
    long loses its middle to an ellipsis. Backslashes stay as they are, so that a text which is
    made plain twice on its way to the screen reads the same.
    """
    limit = max(limit, 8)
    # Each character is at least one wide: of a 200 MB line only its two ends can matter.
    if len(text) > 2 * limit:
        text = text[:limit] + "\0" * limit + text[-limit:]
    pieces = [_visible(character) for character in text]
    if sum(map(len, pieces)) <= limit:
        return "".join(pieces)
    tail = _fitting(pieces[::-1], (limit - 1) // 2)[::-1]
    head = _fitting(pieces, limit - 1 - sum(map(len, tail)))
    return "".join([*head, "…", *tail])


def _visible(character: str) -> str:
    """The character itself, or its escape as Python writes it."""
    code = ord(character)
    if character.isprintable() and code not in _INVISIBLE:
        return character
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _fitting(pieces: list[str], room: int) -> list[str]:
    """The longest run of whole pieces from the start that needs no more than `room`."""
    for count, piece in enumerate(pieces):
        room -= len(piece)
        if room < 0:
            return pieces[:count]
    return pieces
