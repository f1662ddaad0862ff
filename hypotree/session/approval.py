"""Who may approve: a person at a terminal, or one who holds the session's token.

The token is shown once. What is kept is a salted hash, in the user's state
folder, outside the session and outside every box that an agent runs in.
"""

from __future__ import annotations

import getpass
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from hypotree.atomic import write_file
from hypotree.digest import Digest
from hypotree.errors import RefusedError
from hypotree.model.event import Actor

_ROUNDS = 200_000


def new_token(folder: Path) -> str:
    """Make and return the session's token; an older one no longer works."""
    token, salt = secrets.token_urlsafe(24), secrets.token_bytes(16)
    path = _hash_file(folder)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_file(path, salt + _hash(token, salt), mode=0o600)
    return token


def person_by_token(folder: Path, token: str) -> Actor:
    """The person who holds the token; `RefusedError` for any other text."""
    try:
        kept = _hash_file(folder).read_bytes()
    except FileNotFoundError:
        kept = b""
    if len(kept) < 48 or not hmac.compare_digest(kept[16:], _hash(token, kept[:16])):
        raise RefusedError(
            "approving by token", "it is not this session's token", "hypotree token makes a new one"
        )
    return person()


def person() -> Actor:
    """The person at this terminal."""
    return Actor("human", getpass.getuser())


def _hash(token: str, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", token.encode(), salt, _ROUNDS)


def _hash_file(folder: Path) -> Path:
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = Digest.of(str(folder.resolve()).encode()).hex
    return Path(state, "hypotree", "tokens", name)
