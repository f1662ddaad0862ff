import contextlib
import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hypotree.artifact.documents import INDEX, Limits, as_mapping, read_json, read_yaml
from hypotree.errors import LimitError, MalformedError, UnreadableError

READERS = [read_json, read_yaml]


def test_a_config_reads_as_what_it_says(producers, as_file):
    for path in producers:
        data = (path.parent / "config.json").read_bytes()
        config = as_mapping(read_json(as_file(data), "config.json"), "config.json")
        assert config == json.loads(data)


def test_a_number_without_a_point_is_text_to_yaml_as_it_is_to_the_trainers_parser(as_file):
    assert read_yaml(as_file(b"lr: 1e-05\neps: 1.0e-05"), "x") == {"lr": "1e-05", "eps": 1e-05}


#: Characters that both forms can carry.
TEXT = st.text(
    st.characters(
        exclude_categories=["Cs", "Cc", "Cn", "Co"], exclude_characters="\u2028\u2029\ufeff"
    ),
    max_size=9,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_plain_values_come_back_from_both_forms(as_file, value):
    assert read_json(as_file(json.dumps(value).encode()), "x") == value
    dumped = yaml.safe_dump(value, allow_unicode=True).encode()
    assert read_yaml(as_file(dumped), "x") == value


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("data", [b'{"a": "\xff"}', b'{"a": 1', b'{"a": 1, "a": 2}', b"{]"])
def test_broken_documents_and_double_keys_are_refused(as_file, read, data):
    with pytest.raises(MalformedError) as caught:
        read(as_file(data), "x")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("depth", [66, 900, 10_000, 200_000])
@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_deep_nesting_is_refused(as_file, read, depth, pair):
    opening = "[" if pair == "[]" else '{"a":'
    data = (opening * depth + "1" + pair[1] * depth).encode()
    with pytest.raises(LimitError):
        read(as_file(data), "x")


@pytest.mark.parametrize("read", READERS)
def test_64_levels_are_read(as_file, read):
    assert read(as_file(b"[" * 63 + b"1" + b"]" * 63), "x")


@pytest.mark.parametrize("read", READERS)
def test_documents_beyond_the_limits_are_refused(as_file, read):
    with pytest.raises(LimitError, match="bytes"):
        read(as_file(b" " * (16 * 1024 * 1024 + 1)), "x")
    with pytest.raises(LimitError, match="values"):
        read(as_file(b"[" + b"1," * 400_001 + b"1]"), "x")
    with pytest.raises(LimitError):
        read(as_file(b"[1,2,3]"), "x", Limits(nodes=3))


def test_an_index_of_208000_tensors_is_read_within_its_own_limits(as_file):
    index = {"weight_map": {f"model.layers.{i}.weight": "a.safetensors" for i in range(208_000)}}
    assert read_json(as_file(json.dumps(index).encode()), "index", INDEX) == index


def test_nan_and_infinity_are_read_as_the_engines_read_them(as_file):
    assert str(read_json(as_file(b"[NaN, -Infinity]"), "x")) == "[nan, -inf]"


def test_a_number_too_long_to_read_is_malformed(as_file):
    with pytest.raises(MalformedError):
        read_json(as_file(b"1" * 10_000), "x")


def test_a_thousand_laughs_are_refused_at_once(as_file):
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    with pytest.raises(LimitError, match="aliases"):
        read_yaml(as_file("\n".join(lines).encode()), "x")


def test_merge_keys_that_multiply_are_refused_at_once(as_file):
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 10)}]}}" for i in range(1, 30)]
    with pytest.raises(LimitError, match="aliases"):
        read_yaml(as_file("\n".join(lines).encode()), "x")


@pytest.mark.parametrize("text", ["&a [*a]", "&a {x: *a}", "&a {<<: *a}", "&a {? *a : 1}"])
def test_a_document_that_holds_itself_is_refused(as_file, text):
    with pytest.raises(LimitError):
        read_yaml(as_file(text.encode()), "x")


def test_anchors_and_merges_as_people_use_them_are_read(as_file):
    text = b"base: &b {lr: 0.1, steps: 5}\nrun: {<<: *b, lr: 0.2}\nagain: *b\n"
    assert read_yaml(as_file(text), "x") == {
        "base": {"lr": 0.1, "steps": 5},
        "run": {"lr": 0.2, "steps": 5},
        "again": {"lr": 0.1, "steps": 5},
    }


def test_yaml_makes_no_objects_and_no_dates(as_file, tmp_path):
    marker = tmp_path / "ran"
    for tag in (
        f"!!python/object/apply:os.system ['touch {marker}']",
        "!!set {a}",
        "!!binary aGk=",
    ):
        with pytest.raises(MalformedError, match="tag"):
            read_yaml(as_file(f"a: {tag}".encode()), "x")
    assert not marker.exists()
    assert read_yaml(as_file(b"day: 2026-01-02\nempty:\n"), "x") == {
        "day": "2026-01-02",
        "empty": None,
    }


@pytest.mark.parametrize("text", ["a: " + "1:" * 200_000 + "1", "a: " + "1" * 5000])
def test_yaml_numbers_that_take_minutes_are_refused(as_file, text):
    with pytest.raises(MalformedError, match="number of"):
        read_yaml(as_file(text.encode()), "x")


BROKEN = ["a: b: c", "? [a]\n: b", "--- a\n--- b", "a: \x01", "*x", "\tx", "%"]


@pytest.mark.parametrize("text", BROKEN)
def test_yaml_that_does_not_parse_is_malformed_and_says_where(as_file, text):
    with pytest.raises(MalformedError) as caught:
        read_yaml(as_file(text.encode()), "x")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(("value", "words"), [([1], "list"), (None, "NoneType"), ({1: 2}, "key 1")])
def test_what_is_no_object_with_named_fields_says_what_it_is(value, words):
    with pytest.raises(MalformedError, match=words):
        as_mapping(value, "x")


@settings(max_examples=150, deadline=None)
@given(st.text("{}[]:,&*a1<-? \n\"'!|>#%", max_size=40))
def test_random_text_is_read_or_refused_and_nothing_else(as_file, text):
    for read in READERS:
        with contextlib.suppress(UnreadableError):
            read(as_file(text.encode()), "x")
