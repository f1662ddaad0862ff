"""Landlock by its three system calls: what a process may write, and that it may not connect.

Source: linux/landlock.h and Documentation/userspace-api/landlock.rst (ABI 1 to 6). Landlock
only ever takes rights away, holds for all children, and needs no privilege.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG: Final = 1
_RULE_PATH_BENEATH: Final = 1
_NO_NEW_PRIVS: Final = 38

_WRITE_FILE = 1 << 1
#: WRITE_FILE, then REMOVE_DIR (1 << 4) to MAKE_SYM (1 << 12): every write that ABI 1 knows.
_WRITES_ABI1: Final = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
#: BIND_TCP and CONNECT_TCP.
_NET: Final = 0b11
#: Abstract unix sockets and signals to processes outside.
_SCOPES: Final = 0b11
_NET_ABI, _SCOPE_ABI, _REFER_ABI, _TRUNCATE_ABI = 4, 6, 2, 3
#: Devices that ordinary libraries open for writing.
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def abi_version() -> int:
    """The kernel's Landlock ABI; 0 where there is none, or where we may not ask."""
    found = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    return max(int(found), 0)


def restrict(writable: Sequence[Path], devices: Sequence[Path] = ()) -> int:
    """Take from this process and its children all writing outside `writable`, and all TCP.

    Returns the ABI that is in force, 0 if there is no Landlock (then nothing was done).
    `OSError` if it is there and refused.
    """
    abi = abi_version()
    if not abi:
        return 0
    writes = _WRITES_ABI1
    writes |= _REFER if abi >= _REFER_ABI else 0
    writes |= _TRUNCATE if abi >= _TRUNCATE_ABI else 0
    net = _NET if abi >= _NET_ABI else 0
    scopes = _SCOPES if abi >= _SCOPE_ABI else 0
    # The kernel refuses an attribute longer than it knows, unless the rest is zero.
    length = 24 if scopes else 16 if net else 8
    attributes = struct.pack("=QQQ", writes, net, scopes)[:length]
    ruleset = _checked(_CREATE_RULESET, attributes, ctypes.c_size_t(length), 0)
    try:
        for folder in writable:
            _allow(ruleset, folder, writes)
        for device in (*map(Path, _DEVICES), *devices):
            if device.exists():
                _allow(ruleset, device, _WRITE_FILE)
        if _libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
        _checked(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: Path, rights: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, parent)
        _checked(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(parent)


def _checked(call: int, *arguments: object) -> int:
    result = int(_libc().syscall(call, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock system call {call}: {os.strerror(code)}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
