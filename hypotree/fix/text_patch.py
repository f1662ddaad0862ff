"""Apply a unified diff to one text: exactly, or not at all."""

from __future__ import annotations

from hypotree.errors import MisuseError

MAX_DIFF = 1 << 20


def patch_text(text: str, diff: str, name: str) -> str:
    """`text` with `diff` applied; `MisuseError` if it is no diff of one file, or does not fit.

    Context must match to the letter: a diff that fits somewhere else is another change.
    """
    import whatthepatch
    from whatthepatch.exceptions import WhatThePatchException

    if len(diff) > MAX_DIFF:
        raise MisuseError(f"patching {name}", f"the diff has more than {MAX_DIFF} characters")
    found = [part for part in whatthepatch.parse_patch(diff) if part.changes]
    if len(found) != 1:
        raise MisuseError(f"patching {name}", f"the diff changes {len(found)} files, not one")
    try:
        lines = whatthepatch.apply_diff(found[0], text.split("\n"))
    except (WhatThePatchException, ValueError, IndexError) as error:
        raise MisuseError(
            f"patching {name}", f"the diff does not fit: {error}", "make it from the file as it is"
        ) from error
    if not isinstance(lines, list):
        raise MisuseError(f"patching {name}", "the diff does not fit")
    return "\n".join(str(line) for line in lines)
