"""Engines: a release by name (`sglang@0.5.9`) or a source tree (`sglang:PATH`).

A release whose wheel lies unpacked in the cache can be read like a tree. Nothing here fetches
one: the cache is filled on request (`python -m hypotree_probes.engines.fetch sglang@0.5.9`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import ClassVar

from hypotree.artifact.base import Artifact
from hypotree.artifact.files import DiskTree, FileIdentity, FileTree
from hypotree.digest import Digest
from hypotree.errors import MisuseError

ENGINES = ("sglang", "vllm", "trtllm")
_VERSION_FILES = ("version.py", "_version.py")
_VERSION = re.compile(
    r"""^__version__\s*(?::\s*str\s*)?=\s*(?:version\s*=\s*)?['"]([^'"\s]{1,64})['"]""",
    re.MULTILINE,
)
_SPEC = re.compile(r"(?P<name>[a-z]+)(?:@(?P<version>[0-9][\w.+!-]*)|:(?P<path>.+))?\Z", re.DOTALL)


#: Written last when a wheel is unpacked, with the wheel's sha256 and name: without it, no cache.
WHEEL_MARK = "wheel.sha256"


def engine_cache() -> Path:
    """Where wheels lie unpacked, one folder a release."""
    own = os.environ.get("HYPOTREE_ENGINE_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "hypotree" / "engines"


class Engine(Artifact):
    """Which engine, which version, and where its package folder is.

    `package` is the folder that was given as a path; `source` is that, or the cached wheel's.
    """

    kind: ClassVar[str] = "engine"

    def __init__(self, locator: str, tree: FileTree | None = None, form: str = "") -> None:
        name, version, path = parse_engine(locator)
        self.name = name
        self._version = version
        self.package = _package_folder(name, Path(path)) if path else None
        self.source = self.package or _cached(name, version)
        if tree is None and self.source is not None:
            tree = DiskTree(self.source)
        super().__init__(locator, tree, form)
        if self.package is None:
            self.note("spec", "", self.digest_of("spec", ""))

    def version(self) -> str:
        """The declared version, or what the tree's version.py says; "" if neither tells."""
        if self._version or self.package is None:
            return self._version
        for name in _VERSION_FILES:
            file = self.file(name)
            if file is not None:
                text = file.read(0, min(file.size, 4096)).decode("utf-8", "replace")
                if found := _VERSION.search(text):
                    return found[1]
        return ""

    @property
    def wheel(self) -> str:
        """The sha256 of the cached wheel that is read; "" if none is."""
        if self.package is not None or self.source is None:
            return ""
        mark = self.source.parent / WHEEL_MARK
        return mark.read_text("ascii").split()[0]

    def text(self, name: str) -> bytes | None:
        """One source file whole, noted; None if there is none."""
        file = self.file(name)
        return None if file is None else file.read(0, file.size)

    def has(self, name: str) -> bool:
        """Whether the tree holds a file, or with a slash at the end of `name` a folder; not noted."""
        if not name.endswith("/"):
            return self.tree.has(name)
        parts = PurePosixPath(name)
        return not parts.is_absolute() and ".." not in parts.parts and (
            self.tree.root / parts
        ).is_dir()  # fmt: skip

    def digest_of(self, kind: str, name: str) -> Digest:
        """What `name` digests to now; a spec without a path is its own content."""
        if kind == "spec":
            return Digest.of_parts(self.name.encode(), self._version.encode())
        return super().digest_of(kind, name)

    def members(self) -> tuple[str, ...]:
        """The package's Python files; none for a spec without a path."""
        if self.package is None:
            return ()
        return tuple(name for name in self.tree.names() if name.endswith(".py"))

    def identities(self) -> tuple[FileIdentity, ...]:
        """Which files on this machine these are."""
        return tuple(self.tree.identity(name) for name in self.members())

    def content_digest(self) -> Digest:
        """Of the spec, or of every Python file of the tree."""
        return self.digest_of("spec", "") if self.package is None else super().content_digest()


def parse_engine(spec: str) -> tuple[str, str, str]:
    """Name, version and path of an engine spec; `MisuseError` if it is none."""
    found = _SPEC.match(spec)
    if found and found["name"] in ENGINES:
        return found["name"], found["version"] or "", found["path"] or ""
    path = Path(spec)
    if path.name in ENGINES or (path / "srt").is_dir():
        return (path.name if path.name in ENGINES else "sglang"), "", spec
    raise MisuseError(
        f"reading {spec!r} as an engine",
        "not one of sglang@VERSION, sglang:PATH, vllm@VERSION, vllm:PATH, trtllm",
        "for example --engine sglang@0.5.9",
    )


def _package_folder(name: str, path: Path) -> Path:
    """The package itself, or what holds it: site-packages, a checkout (SGLang's in `python/`)."""
    inside = (path / name, path / "python" / name)
    return next((folder for folder in inside if folder.is_dir()), path)


def _cached(name: str, version: str) -> Path | None:
    folder = engine_cache() / f"{name}-{version}"
    return folder / name if version and (folder / WHEEL_MARK).is_file() else None
