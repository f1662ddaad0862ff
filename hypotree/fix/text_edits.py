"""Edits on small text files: JSON fields and unified diffs."""

from __future__ import annotations

from hypotree.artifact.files import FileTree
from hypotree.artifact.plain import plain
from hypotree.errors import MalformedError, MisuseError
from hypotree.fix.json_text import delete_field, set_field
from hypotree.fix.segments import Fresh, SegmentedFile
from hypotree.fix.text_patch import patch_text
from hypotree.model.edit import DeleteField, PatchText, SetField, TextEdit

MAX_TEXT = 16 << 20


def edit_text(
    tree: FileTree, staged: dict[str, SegmentedFile], edit: TextEdit
) -> tuple[str, SegmentedFile]:
    """The name and new content of the file that `edit` changes, after earlier edits of it."""
    if not tree.has(edit.file):
        raise MisuseError(f"editing {plain(edit.file)}", "there is no such file to change")
    base = tree.open(edit.file)
    before = staged.get(edit.file) or base
    if before.size > MAX_TEXT:
        raise MisuseError(f"editing {plain(edit.file)}", f"it has more than {MAX_TEXT} bytes")
    try:
        text = before.read(0, before.size).decode()
    except UnicodeDecodeError as error:
        raise MalformedError(f"editing {plain(edit.file)}", "it is no UTF-8 text") from error
    return edit.file, SegmentedFile(base, (Fresh(_edited(text, edit).encode()),))


def _edited(text: str, edit: TextEdit) -> str:
    if isinstance(edit, SetField):
        value = list(edit.value) if isinstance(edit.value, tuple) else edit.value
        return set_field(text, edit.field, value)
    if isinstance(edit, DeleteField):
        return delete_field(text, edit.field)
    assert isinstance(edit, PatchText)
    return patch_text(text, edit.diff, edit.file)
