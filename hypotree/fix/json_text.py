"""Change one field of a JSON text and nothing else: order, indentation and other fields stay."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypotree.errors import MalformedError, MisuseError

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class _Member:
    """One `"key": value` of an object, by positions in the text."""

    key: str
    start: int
    value: int
    end: int


def set_field(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with the field at `path` set; a missing last key is added at the end of its object."""
    start, member = _find(text, path)
    if member is not None:
        new = _dump(value, text, member.start)
        return text[: member.value] + new + text[member.end :]
    return _add(text, start, path[-1], value)


def delete_field(text: str, path: Sequence[str]) -> str:
    """`text` without the field at `path`; `MisuseError` if it is not there."""
    start, member = _find(text, path)
    if member is None:
        raise MisuseError(f"deleting {'.'.join(path)}", "there is no such field")
    members = _members(text, start)
    index = members.index(member)
    if index + 1 < len(members):
        return text[: member.start] + text[members[index + 1].start :]
    if index:
        return text[: members[index - 1].end] + text[member.end :]
    return text[: member.start].rstrip() + text[member.end :].lstrip()


def _find(text: str, path: Sequence[str]) -> tuple[int, _Member | None]:
    """The object that holds the last key of `path`, and that key's member if it is there."""
    if not path:
        raise MisuseError("changing a field", "no field was named")
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        member = next((m for m in _members(text, at) if m.key == key), None)
        if depth == len(path) - 1:
            return at, member
        if member is None:
            raise MisuseError(f"changing {'.'.join(path)}", f"there is no {key!r} to change it in")
        at = member.value
    raise AssertionError


def _members(text: str, at: int) -> list[_Member]:
    """The members of the object that begins at `at`."""
    if text[at : at + 1] != "{":
        raise MisuseError("changing a field", "what should hold it is no object")
    members: list[_Member] = []
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        key, end = _value(text, at)
        value = _skip(text, _skip(text, end) + 1)
        _, end = _value(text, value)
        members.append(_Member(str(key), at, value, end))
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    return members


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise MalformedError("reading JSON to change a field of it", str(error)) from error


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _add(text: str, start: int, key: str, value: Any) -> str:
    members = _members(text, start)
    if not members:
        body = f"{json.dumps(key, ensure_ascii=False)}: {_dump(value, text, start)}"
        return text[: start + 1] + body + text[_skip(text, start + 1) :]
    last = members[-1]
    # What stands before the last key is how this file separates members.
    before = text[: last.start]
    gap = before[len(before.rstrip(" \t\r\n")) :]
    _, key_end = _value(text, last.start)
    colon = text[key_end : last.value].partition(":")[2]
    new = f",{gap}{json.dumps(key, ensure_ascii=False)}:{colon}{_dump(value, text, last.start)}"
    return text[: last.end] + new + text[last.end :]


def _dump(value: Any, text: str, at: int) -> str:
    """A value as this file would write it: indented like its line, if the file is indented."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    indent = len(line) - len(line.lstrip())
    if "\n" not in text.strip() or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    step = _step(text)
    dumped = json.dumps(value, ensure_ascii=False, indent=step)
    return dumped.replace("\n", "\n" + line[:indent])


def _step(text: str) -> int:
    found = re.search(r"\{\r?\n( +)", text)
    return len(found[1]) if found else 2
