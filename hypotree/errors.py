"""Every error that hypotree raises on purpose.

    HypotreeError
    ├── MisuseError            the request itself is wrong                       exit 2
    │   └── UnknownNameError   no such session, node, probe, fault, fix
    ├── UnreadableError        an input cannot be read as what it should be     exit 2
    │   ├── MalformedError     it breaks its own format
    │   ├── LimitError         it is larger or deeper than we accept
    │   └── EscapeError        a path in it leaves its root folder
    ├── RefusedError           the gate said no, or a conflict was found        exit 4
    └── ToolError              hypotree itself failed                            exit 5
        └── JournalError       the journal is broken or was changed behind us

A message has three parts: what was asked, what was there, what to do next.
"""

from __future__ import annotations

from typing import ClassVar

EXIT_OK = 0
EXIT_FAULT = 1
EXIT_USAGE = 2
EXIT_UNDECIDED = 3
EXIT_REFUSED = 4
EXIT_TOOL = 5


class HypotreeError(Exception):
    """Root of all errors: `asked`, `found` and `next_step` are plain text for people."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = EXIT_TOOL

    def __init__(self, asked: str, found: str, next_step: str = "") -> None:
        self.asked = asked
        self.found = found
        self.next_step = next_step
        super().__init__(asked, found, next_step)

    def __str__(self) -> str:
        tail = f"; {self.next_step}" if self.next_step else ""
        return f"{self.asked}: {self.found}{tail}"


class MisuseError(HypotreeError):
    """The request is wrong, whatever the files hold."""

    code = "misuse"
    exit_code = EXIT_USAGE


class UnknownNameError(MisuseError):
    """A name that nothing here answers to."""

    code = "unknown-name"


class UnreadableError(HypotreeError):
    """An input that cannot be read as what it was given for."""

    code = "unreadable"
    exit_code = EXIT_USAGE


class MalformedError(UnreadableError):
    """An input that contradicts its own format."""

    code = "malformed"


class LimitError(UnreadableError):
    """An input beyond the limits within which we read at all."""

    code = "over-limit"


class EscapeError(UnreadableError):
    """A path inside an input that leads out of its root folder."""

    code = "path-escapes-root"


class RefusedError(HypotreeError):
    """The gate's refusal, or a conflict, as an exception for front ends; nothing was written."""

    code = "refused"
    exit_code = EXIT_REFUSED


class ToolError(HypotreeError):
    """hypotree or its machine failed; inputs are as they were."""

    code = "tool-failed"


class JournalError(ToolError):
    """The journal does not verify, or another process moved it while we wrote."""

    code = "journal-broken"
