"""The map has every stated trait of the incident's file, and is the same bytes each time."""

import hashlib
import itertools

from hypotree_probes.incident.d2t_map import DRAFT_VOCAB, STRETCH, TARGET_VOCAB, incident_d2t


def test_traits() -> None:
    d2t = incident_d2t()
    assert len(d2t) == DRAFT_VOCAB == 32_000
    assert d2t[:124] == [0] * 124 and d2t[124] > 0
    assert d2t[1000:1010] == [787, 787, 787, 788, 792, 792, 792, 792, 793, 794] == list(STRETCH)
    assert (min(d2t), max(d2t), len(set(d2t))) == (0, 131_608, 20_954)
    assert d2t == sorted(d2t)


def test_targets_are_ascending_unique_and_in_range() -> None:
    targets = [i + offset for i, offset in enumerate(incident_d2t())]
    assert all(a < b for a, b in itertools.pairwise(targets))
    assert targets[-1] == 163_607 < TARGET_VOCAB


def test_bytes_never_change() -> None:
    text = ",".join(map(str, incident_d2t()))
    assert hashlib.sha256(text.encode()).hexdigest() == DIGEST


DIGEST = "d6a7cc54086a9123441df595e733167b28377a9c933e7bcd5f6bdb9dc62d9e8a"
