"""What a plan changes of a small text: its JSON fields, or its lines."""

from __future__ import annotations

import difflib
import json
from typing import Any

from hypotree.artifact.files import ByteFile
from hypotree.model.fix import FieldChange

_MAX_LINES = 60
#: An index of 208,000 tensors is not shown field by field.
_MAX_SHOWN = 40


def field_changes(old: ByteFile, new: ByteFile, name: str) -> tuple[FieldChange, ...]:
    """The fields of a JSON file that differ, nested ones with dots; none for another text."""
    if not name.endswith(".json"):
        return ()
    before, after = _flat(json.loads(_text(old))), _flat(json.loads(_text(new)))
    changed = [k for k in {**before, **after} if before.get(k, "") != after.get(k, "")]
    return tuple(FieldChange(k, before.get(k, ""), after.get(k, "")) for k in changed[:_MAX_SHOWN])


def text_difference(old: ByteFile, new: ByteFile, name: str) -> tuple[str, ...]:
    """The first lines of a unified diff; none for JSON, whose fields say more."""
    if name.endswith(".json"):
        return ()
    lines = difflib.unified_diff(
        _text(old).splitlines(), _text(new).splitlines(), name, name, lineterm=""
    )
    return tuple(lines)[:_MAX_LINES]


def _text(file: ByteFile) -> str:
    return file.read(0, file.size).decode("utf-8", "replace")


def _flat(value: Any, path: str = "") -> dict[str, str]:
    if isinstance(value, dict) and value:
        flat: dict[str, str] = {}
        for key, inner in value.items():
            flat |= _flat(inner, f"{path}.{key}" if path else key)
        return flat
    return {path: json.dumps(value, ensure_ascii=False)}
