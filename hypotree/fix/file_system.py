"""What the target's file system means for a swap: shared or copied, and what it does not promise."""

from __future__ import annotations

import os
from pathlib import Path

#: copy_file_range shares extents here (measured: XFS and btrfs, kernel 6.18).
_SHARING = frozenset({"xfs", "btrfs", "bcachefs"})
#: Rename and fsync of these depend on a server, or on a program.
_REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "9p", "lustre", "ceph", "beegfs", "gpfs", "afs"}
)


def disk_facts(path: Path, size: int, fresh: int) -> tuple[str, ...]:
    """Sentences on what replacing the file at `path` (new size in bytes, bytes not its own) costs."""
    kind = file_system(path)
    if kind in _SHARING:
        cost = f"{kind}: unchanged ranges are shared, {_bytes(fresh)} are written"
    else:
        cost = f"{kind}: {_bytes(size)} are written, of which {_bytes(fresh)} are new"
    facts = [cost]
    if kind in _REMOTE or kind.startswith("fuse"):
        facts.append(
            f"warning: {kind} may not keep what fsync and rename promise; a crash of the server can "
            "lose the new file. A copy on a local disk is safer"
        )
    return tuple(facts)


def file_system(path: Path) -> str:
    """The type of the file system that holds `path`; "unknown file system" where nothing says."""
    device = path.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return "unknown file system"
    for line in reversed(lines):
        fields, _, rest = line.partition(" - ")
        if fields.split()[2:3] == [wanted] and rest:
            return rest.split()[0]
    return _by_mount_point(path, lines)


def _by_mount_point(path: Path, lines: list[str]) -> str:
    """btrfs subvolumes have device numbers that no mount line names: the longest mount point decides."""
    real = str(path.resolve())
    found = [
        (fields.split()[4], rest.split()[0])
        for line in lines
        for fields, _, rest in [line.partition(" - ")]
        if rest and len(fields.split()) > 4
    ]
    inside = [
        (len(mount), kind) for mount, kind in found if real.startswith(mount.rstrip("/") + "/")
    ]
    return max(inside)[1] if inside else "unknown file system"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
