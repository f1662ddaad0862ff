import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypotree.artifact.map_form import as_targets, decide_form

TARGETS = (0, 1, 5, 9)
OFFSETS = (0, 0, 3, 6)
#: Ascending and unrepeated both as ids and as offsets: nothing in it tells which.
OPEN = (2, 3, 7, 9)


@pytest.mark.parametrize(
    ("stored", "marked", "vocabulary", "declared", "form", "targets"),
    [
        (OFFSETS, TARGETS, None, "", "offsets", TARGETS),
        (TARGETS, TARGETS, None, "", "absolute", TARGETS),
        (OFFSETS, TARGETS, None, "absolute", "offsets", TARGETS),
        (OFFSETS, (1, 2, 5, 9), 12, "offsets", "undecided", None),
        (None, TARGETS, 12, "", "offsets", TARGETS),
        (None, None, 12, "", "undecided", None),
        (OFFSETS, None, None, "", "offsets", TARGETS),
        (OFFSETS, None, 12, "", "offsets", TARGETS),
        ((3, -1, 4), None, None, "", "offsets", (3, 0, 6)),
        (OPEN, None, 12, "", "absolute", OPEN),
        (OPEN, None, 13, "", "undecided", None),
        (OPEN, None, None, "", "undecided", None),
        (OPEN, None, 13, "offsets", "offsets", (2, 4, 9, 12)),
        (OPEN, None, 13, "absolute", "absolute", OPEN),
        (OPEN, None, 12, "offsets", "undecided", None),
        (OPEN, None, 9, "absolute", "undecided", None),
        ((1, 0), None, None, "offsets", "undecided", None),
        (OFFSETS, None, None, "absolute", "undecided", None),
        (OFFSETS, None, 9, "", "undecided", None),
        ((1, 0, 1), None, None, "", "undecided", None),
        ((-5, 1), None, None, "", "undecided", None),
        ((3, 1, 20), None, 12, "", "undecided", None),
        (OPEN, None, 13, "nonsense", "undecided", None),
        ((), None, 12, "", "undecided", None),
    ],
)
def test_the_form_is_decided_by_the_first_rule_that_holds(
    stored, marked, vocabulary, declared, form, targets
):
    found = decide_form(stored, marked, vocabulary, declared)
    assert (found.form, found.targets) == (form, targets)
    assert found.why


maps = st.sets(st.integers(0, 200), min_size=1, max_size=30).map(sorted)


@given(maps)
def test_a_map_with_its_t2d_is_always_decided_and_right(targets):
    offsets = [t - i for i, t in enumerate(targets)]
    assert decide_form(offsets, targets, 201).targets == tuple(targets)
    assert decide_form(targets, targets, 201).targets == tuple(targets)


@given(maps, st.booleans())
def test_a_map_alone_is_never_taken_for_what_it_is_not(targets, is_absolute):
    stored = targets if is_absolute else [t - i for i, t in enumerate(targets)]
    found = decide_form(stored, None, 201)
    assert found.targets in {None, tuple(targets)}


@given(st.lists(st.integers(-300, 300), max_size=20), st.sampled_from(["", "offsets", "absolute"]))
def test_whatever_is_decided_is_a_valid_map(stored, declared):
    found = decide_form(stored, None, 201, declared)
    if found.targets is not None:
        assert found.targets == as_targets(stored, found.form)
        assert len(set(found.targets)) == len(stored)
        assert all(0 <= t < 201 for t in found.targets)
