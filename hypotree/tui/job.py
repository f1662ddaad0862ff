"""The process in which one probe of the screen runs, so that it can be stopped and never holds it up.

Its stdout carries JSON lines: progress in bytes, then how it ended.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Final, TextIO

from hypotree.errors import HypotreeError
from hypotree.model.declaration import SYMPTOM
from hypotree.model.event import Actor
from hypotree.session import Session

_PAUSE: Final = 0.1


class _Teller:
    """Writes progress, at most ten times a second."""

    def __init__(self, channel: TextIO) -> None:
        self._channel = channel
        self._last = 0.0

    def progress(self, done: int, total: int) -> None:
        """Bytes so far and in all."""
        now = time.monotonic()
        if now - self._last >= _PAUSE or done >= total:
            self._last = now
            self.say(done=done, total=total)

    def say(self, **what: object) -> None:
        """One line."""
        self._channel.write(json.dumps(what) + "\n")
        self._channel.flush()


def main(argv: list[str]) -> int:
    """Run `argv`: folder, node, actor's kind, actor's name."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    folder, node, kind, name = argv
    teller = _Teller(channel)
    try:
        said = _run(Session(Path(folder), Actor(kind, name)), node, teller)
    except HypotreeError as error:
        teller.say(error=str(error))
        return error.exit_code
    teller.say(ended=said)
    return 0


def _run(session: Session, node: str, teller: _Teller) -> str:
    if node == SYMPTOM:
        return "; ".join(e.summary or e.probe for e in session.measure(teller.progress))
    evidence = session.run(node, teller.progress)
    finding = evidence.finding(session.hypothesis(node).fault)
    return f"{finding.verdict}: {finding.why}" if finding else evidence.summary


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
