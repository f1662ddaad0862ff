"""Fetch an engine's wheel into the cache and unpack it; it is never installed, nor run here.

python -m hypotree_probes.engines.fetch sglang@0.5.9 [more ...]
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Final

from hypotree.artifact.engine import WHEEL_MARK, engine_cache, parse_engine
from hypotree.errors import HypotreeError, MisuseError, ToolError

_SECONDS: Final = 1800
#: Sources only: an engine's wheel is mostly kernels, which nothing here could run.
_SUFFIXES: Final = (".py", "METADATA")


def fetch(spec: str) -> Path:
    """The unpacked package of `sglang@VERSION`; from the cache if it is there."""
    name, version, _ = parse_engine(spec)
    if not version:
        raise MisuseError(f"fetching {spec}", "it names no release", "for example sglang@0.5.9")
    folder = engine_cache() / f"{name}-{version}"
    if not (folder / WHEEL_MARK).is_file():
        with tempfile.TemporaryDirectory(prefix="hypotree-wheel-") as scratch:
            wheel = _download(name, version, Path(scratch))
            _unpack(wheel, folder, name)
            digest = _sha256(wheel)
        # Last: a folder without it is half unpacked, and no cache.
        (folder / WHEEL_MARK).write_text(f"{digest} {wheel.name}\n", "ascii")
    return folder / name


def _download(name: str, version: str, folder: Path) -> Path:
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
        "--dest", str(folder), f"{name}=={version}",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"fetching {name}=={version}", f"no end after {_SECONDS} s") from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ToolError(
            f"fetching {name}=={version} with pip",
            said[-1] if said else f"pip ended with status {done.returncode}",
            f"without it the rule files answer for {name}@{version}",
        )
    return wheels[0]


def _unpack(wheel: Path, folder: Path, name: str) -> None:
    """The package's sources; names that lead out of the folder are refused."""
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            path = PurePosixPath(entry.filename)
            if path.is_absolute() or ".." in path.parts:
                raise ToolError(f"unpacking {wheel.name}", f"it holds {entry.filename!r}")
            is_ours = path.parts[0] == name or path.parts[0].endswith(".dist-info")
            if is_ours and not entry.is_dir() and entry.filename.endswith(_SUFFIXES):
                archive.extract(entry, folder)


def _sha256(wheel: Path) -> str:
    with wheel.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(specs: list[str]) -> int:
    """Fetch every release that is named."""
    for spec in specs:
        try:
            sys.stdout.write(f"{fetch(spec)}\n")
        except HypotreeError as error:
            sys.stderr.write(f"{error}\n")
            return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
