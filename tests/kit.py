"""One small, real session on disk: a draft whose map is wrong, the map that training used, a log."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from hypotree.model.event import Actor
from hypotree.model.refusal import Refusal
from hypotree.session import Session
from hypotree_probes.planting import blank, ids, plant_checkpoint, safetensors_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypotree.artifact.tensor import TensorValue

PACKAGES = Path(__file__).parent / "packages"
TARGETS = [0, 1, 5, 9, 20, 21, 40, 63]
OFFSETS = [t - i for i, t in enumerate(TARGETS)]
DOUBLE = [v - i for i, v in enumerate(OFFSETS)]
CONFIG = {"vocab_size": 64, "draft_vocab_size": 8, "hidden_size": 4}
HUMAN, AGENT = Actor("human", "ada"), Actor("agent", "codex")

#: What the incident's engineer believed of a correct map, and what is really the case here.
BELIEF = {
    "claim": "d2t holds absolute ids", "fault": "d2t.absolute-ids", "probe": "d2t-format",
    "inputs": {"draft": "draft", "truth": "map"}, "fix": "d2t-to-offsets",
}  # fmt: skip
REPAIR = {
    "claim": "d2t is not the map of training", "fault": "d2t.double-subtracted",
    "probe": "d2t-format", "inputs": {"draft": "draft", "truth": "map"}, "fix": "restore-tensor",
}  # fmt: skip


def dial(say: str = "honest", probe: str = "acme-dial", **more: Any) -> dict[str, Any]:
    """A hypothesis bound to one of the stranger's probes."""
    return {
        "claim": "the map is wrong", "fault": "acme.wrong", "probe": probe,
        "inputs": {"draft": "draft", "truth": "map"}, "params": {"say": say}, **more,
    }  # fmt: skip


@dataclass
class World:
    """Real files under one folder; nothing is opened before `open`."""

    root: Path
    values: list[int] = field(default_factory=lambda: list(DOUBLE))
    document: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.plant(ids(self.values))
        self.map.write_bytes(safetensors_bytes({"d2t": ids(OFFSETS)}))
        self.log.write_text("accept len: 1.05, accept rate: 0.21\n")
        self.session.mkdir()
        self.document = {
            "hypotree": 1,
            "symptom": {"what": "almost no draft token is accepted"},
            "artifacts": {
                "draft": {"path": "../draft", "role": "subject", "kind": "checkpoint"},
                "map": {"path": "../map.safetensors", "role": "truth", "kind": "vocabulary-map"},
                "log": {"path": "../server.log", "role": "observation", "kind": "log"},
            },
            "hypotheses": {"H1": dict(REPAIR)},
            "policy": {"approve": "auto", "rivals": "off"},
        }

    def plant(self, d2t: TensorValue, **more: TensorValue) -> None:
        tensors = {"lm_head.weight": blank("BF16", 8, 4), "d2t": d2t, **more}
        plant_checkpoint(self.root, tensors, CONFIG)

    @property
    def session(self) -> Path:
        return self.root / "session"

    @property
    def draft(self) -> Path:
        return self.root / "draft" / "model.safetensors"

    @property
    def map(self) -> Path:
        return self.root / "map.safetensors"

    @property
    def log(self) -> Path:
        return self.root / "server.log"

    @property
    def journal(self) -> Path:
        return self.session / "journal.jsonl"

    def declare(self, **hypotheses: dict[str, Any]) -> None:
        """Write session.yaml with these hypotheses."""
        if hypotheses:
            self.document["hypotheses"] = hypotheses
        (self.session / "session.yaml").write_text(yaml.safe_dump(self.document, sort_keys=False))

    def open(self, actor: Actor | None = None) -> Session:
        if not (self.session / "session.yaml").exists():
            self.declare()
        return Session(self.session, actor)

    def confirmed(self, **hypotheses: dict[str, Any]) -> Session:
        """A session whose H1 has been run."""
        self.declare(**hypotheses)
        opened = self.open()
        opened.run("H1")
        return opened

    def refusal(self, node: str = "H1", session: Session | None = None) -> Refusal:
        """What an apply answers; fails if anything was written."""
        before = self.draft.read_bytes(), self.map.read_bytes()
        result = (session or self.open()).apply(node)
        assert isinstance(result, Refusal), f"written as {result.id}"
        assert (self.draft.read_bytes(), self.map.read_bytes()) == before
        return result

    def standing(self, node: str = "H1") -> str:
        return {n.id: n.standing for n in self.open().snapshot().nodes}[node]

    def tensor(self, name: str = "d2t") -> list[int]:
        from hypotree.artifact.checkpoint import Checkpoint

        value = Checkpoint(str(self.root / "draft")).tensor(name)
        assert value is not None
        return value.integers()


@contextmanager
def acme_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stranger's distribution on sys.path, found by its entry points as any other is."""
    from hypotree.probe.registry import declared

    monkeypatch.syspath_prepend(str(PACKAGES))
    declared.cache_clear()
    yield
    declared.cache_clear()


@dataclass
class Ran:
    """One command: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ran:
    """Run the real command line in this process."""
    from hypotree.cli.main import run

    kept, sys.argv = sys.argv, ["hypotree", *map(str, arguments)]
    capsys.readouterr()
    try:
        run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    finally:
        sys.argv = kept
    said = capsys.readouterr()
    return Ran(code, said.out, said.err)


def flip(path: Path, at: int, bit: int = 0) -> None:
    """Turn one bit of a file, in place."""
    fd = os.open(path, os.O_RDWR)
    try:
        at %= os.fstat(fd).st_size
        os.pwrite(fd, bytes([os.pread(fd, 1, at)[0] ^ 1 << bit]), at)
    finally:
        os.close(fd)
