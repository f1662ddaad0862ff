"""What the screen remembers between runs, in the user's state folder, never in the session's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from hypotree.atomic import write_file
from hypotree.digest import Digest

_RECENT: Final = 20
_MOST: Final = 2_000


class Remembered(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one session was left."""

    opened: tuple[str, ...] = ()
    node: str = ""
    tab: str = ""
    standing: str = ""
    marks: dict[str, str] = {}
    theme: str = ""


class _Recent(msgspec.Struct, frozen=True):
    folders: tuple[str, ...] = ()


def state_home(environ: Mapping[str, str] | None = None) -> Path:
    """Where this user's programs keep such things."""
    env = os.environ if environ is None else environ
    base = env.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base, "hypotree", "tui")


def recall(folder: Path) -> Remembered:
    """How the session was left; a file that cannot be read is no memory."""
    try:
        return msgspec.json.decode(_file(folder).read_bytes(), type=Remembered)
    except (OSError, msgspec.MsgspecError, ValueError):
        return Remembered()


def remember(folder: Path, left: Remembered) -> None:
    """Keep how a session was left, and that it was the latest; a full disk loses only this."""
    left = msgspec.structs.replace(left, opened=left.opened[:_MOST])
    try:
        _keep(_file(folder), msgspec.json.encode(left))
        folders = dict.fromkeys([str(folder.resolve()), *(str(p) for p in recent())])
        _keep(state_home() / "recent.json", msgspec.json.encode(_Recent(tuple(folders)[:_RECENT])))
    except OSError:
        return


def recent() -> tuple[Path, ...]:
    """Sessions opened before that are still there, the latest first."""
    try:
        found = msgspec.json.decode((state_home() / "recent.json").read_bytes(), type=_Recent)
    except (OSError, msgspec.MsgspecError, ValueError):
        return ()
    return tuple(p for p in map(Path, found.folders) if (p / "session.yaml").is_file())


def _keep(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_file(path, data, mode=0o600)


def _file(folder: Path) -> Path:
    return state_home() / f"{Digest.of(str(folder.resolve()).encode()).short}.json"
