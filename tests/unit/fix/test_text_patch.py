"""A diff fits to the letter or is refused."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypotree.errors import MisuseError
from hypotree.fix.text_patch import patch_text

OLD = "class Wrapper:\n    def set_layers(self, ids):\n        pass\n\n    x = 1\n"
NEW = OLD.replace("pass", "self.model.set_layers(ids)")


def diff(old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/w.py", "b/w.py")
    return "".join(lines)


def test_a_diff_of_the_file_is_applied() -> None:
    assert patch_text(OLD, diff(OLD, NEW), "w.py") == NEW


def test_a_diff_of_another_text_is_refused() -> None:
    with pytest.raises(MisuseError, match="does not fit"):
        patch_text(OLD.replace("Wrapper", "Other"), diff(OLD, NEW), "w.py")


@pytest.mark.parametrize("text", ["", "no diff at all", "--- a\n+++ b\n"])
def test_what_is_no_diff_is_refused(text: str) -> None:
    with pytest.raises(MisuseError, match="0 files"):
        patch_text(OLD, text, "w.py")


def test_a_diff_of_two_files_is_refused() -> None:
    with pytest.raises(MisuseError):
        patch_text(OLD, diff(OLD, NEW) + diff("a\n", "b\n").replace("w.py", "v.py"), "w.py")


LINES = st.lists(st.sampled_from(["a", "b", "", "x = 1", "    y"]), min_size=1, max_size=12)


@settings(max_examples=60)
@given(LINES, LINES)
def test_a_diff_made_from_two_texts_turns_the_one_into_the_other(
    a: list[str], b: list[str]
) -> None:
    old, new = "\n".join(a) + "\n", "\n".join(b) + "\n"
    if old != new:
        assert patch_text(old, diff(old, new), "t") == new
