"""Lock this process in, for good: meant for a child that is about to run code that is not ours."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path

from hypotree.sandbox.landlock import restrict

_NET_ABI = 4


@dataclass(frozen=True)
class Box:
    """What the process may still do."""

    scratch: Path
    """The only folder that it may write."""
    memory: int
    """Bytes of private memory."""
    cpu_seconds: int
    devices: tuple[Path, ...] = ()
    """Further devices that it may open for writing (a GPU's)."""


@dataclass(frozen=True)
class Guard:
    """What holds, to be said in evidence: 0 stands for no Landlock."""

    landlock_abi: int

    def __str__(self) -> str:
        if not self.landlock_abi:
            return "no Landlock here: writes bounded to 0 bytes, the network not closed"
        network = "no TCP" if self.landlock_abi >= _NET_ABI else "the network not closed"
        return f"Landlock ABI {self.landlock_abi}: no writes outside its scratch, {network}"


def enter(box: Box) -> Guard:
    """Restrict this process and all its children; cannot be undone."""
    _limit(resource.RLIMIT_CORE, 0)
    # Private writable memory, rather than address space: torch and CUDA map far more than they use.
    _limit(resource.RLIMIT_DATA, box.memory)
    _limit(resource.RLIMIT_CPU, box.cpu_seconds)
    abi = restrict([box.scratch], box.devices)
    if not abi:
        # The second line: a file can then still be emptied or removed, but not written.
        _limit(resource.RLIMIT_FSIZE, 0)
    return Guard(abi)


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (bound, bound))
