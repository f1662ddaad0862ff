"""What things in a session may be called."""

from __future__ import annotations

import re
from typing import Final

from hypotree.errors import MisuseError
from hypotree.model.declaration import SYMPTOM

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
#: Words that commands take in the place of a name: `approve policy`, `probe run symptom`.
RESERVED: Final = frozenset({SYMPTOM, "policy"})


def check_name(what: str, name: str) -> None:
    """`MisuseError` for a name that could not be typed, or that means something else."""
    if not _NAME.match(name):
        raise MisuseError(
            f"naming a {what} {name[:80]!r}", "a name has 1 to 64 letters, digits, dots, dashes"
        )
    if name in RESERVED:
        raise MisuseError(f"naming a {what} {name!r}", "that word means something else here")
