"""Large sessions made at once: the journal's own lines, without its fsync for each."""

from __future__ import annotations

from pathlib import Path

import yaml

from hypotree.journal.codec import GENESIS, decode_record, encode_record
from hypotree.model.declaration import SYMPTOM, Hypothesis
from hypotree.model.event import Actor, Event, HypothesisAdded, NoteAdded
from hypotree.session import Session

#: Children of one node.
WIDTH = 100


def make_session(folder: Path, nodes: int, notes: int) -> None:
    """`nodes` hypotheses, a hundred children a node, then `notes` notes."""
    document = {
        "hypotree": 1,
        "symptom": {"what": "many"},
        "artifacts": {},
        "hypotheses": {},
        "policy": {"approve": "ask"},
    }
    (folder / "session.yaml").write_text(yaml.safe_dump(document))
    last = Session(folder).records()[-1]
    head, seq, actor = last.sha256, last.seq, Actor("agent", "many")
    assert head != GENESIS
    events: list[Event] = [HypothesisAdded(f"N{i}", _hypothesis(i)) for i in range(nodes)]
    events += [NoteAdded(SYMPTOM, f"note {i}") for i in range(notes)]
    with (folder / "journal.jsonl").open("ab") as file:
        for event in events:
            seq += 1
            text = encode_record(seq, "2026-03-01T12:00:00.000+00:00", actor, event, head)
            head = decode_record(text[:-1], seq).sha256
            file.write(text)


def _hypothesis(index: int) -> Hypothesis:
    parent = f"N{index // WIDTH - 1}" if index >= WIDTH else SYMPTOM
    return Hypothesis(
        claim=f"claim {index}", fault="d2t.absolute-ids", probe="d2t-format", parent=parent
    )
