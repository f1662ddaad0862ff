import json
import pickle
import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as save_numpy

from hypotree.artifact.safetensors_canonical import read_canonical
from hypotree.artifact.safetensors_header import HeaderError, read_header, scan_header
from hypotree.artifact.tensor import DTYPE_BITS


def framed(header, data=b"\0" * 8):
    raw = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(raw)) + raw + data


def entry(dtype="F32", shape="[2]", offsets="[0,8]"):
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}'


def library(path, data):
    """Names to (dtype, shape) as the library has them, or None if it refuses."""
    path.write_bytes(data)
    try:
        with safe_open(path, "np") as opened:
            slices = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
            return {n: (s.get_dtype(), tuple(s.get_shape())) for n, s in slices.items()}
    except SafetensorError:
        return None


def problem(as_file, data):
    with pytest.raises(HeaderError) as caught:
        read_header(as_file(data), "m.safetensors")
    assert caught.value.next_step
    assert str(caught.value).isprintable()
    return caught.value.problem


def test_the_headers_of_real_producers_read_as_the_library_reads_them(producers, as_file):
    for path in producers:
        header = read_header(as_file(path.read_bytes()), path.name)
        with safe_open(path, "np") as opened:
            assert set(header.tensors) == set(opened.keys())
            assert header.metadata == (opened.metadata() or {})
        assert header.data_start == 8 + len(header.raw)
        assert read_canonical(header.raw, header.file_size) is not None


def test_offsets_in_the_file_lead_to_the_tensors_bytes(as_file):
    arrays = {"b": np.arange(6, dtype="<i8").reshape(2, 3), "a": np.ones(3, "<f4")}
    data = save_numpy(arrays, {"who": 'a "test"'})
    header = read_header(as_file(data), "x")
    for name, array in arrays.items():
        layout = header.tensors[name]
        assert data[layout.begin : layout.end] == array.tobytes()
        assert layout.shape == array.shape
    assert header.metadata == {"who": 'a "test"'}


def test_dtype_widths_are_those_of_the_installed_library(tmp_path):
    for dtype, bits in DTYPE_BITS.items():
        data = framed(f'{{"a":{entry(dtype, "[8]", f"[0,{bits}]")}}}', b"\0" * bits)
        assert library(tmp_path / "x", data) == {"a": (dtype, (8,))}
        wrong = framed(f'{{"a":{entry(dtype, "[8]", f"[0,{bits + 1}]")}}}', b"\0" * (bits + 1))
        assert library(tmp_path / "x", wrong) is None
    unknown = framed(f'{{"a":{entry("NONE", "[8]")}}}')
    with (
        pytest.raises(SafetensorError, match="BOOL") as caught,
        safe_open(_written(tmp_path / "x", unknown), "np"),
    ):
        pass
    assert {part for part in str(caught.value).split("`") if part.isupper() or "_" in part} >= set(
        DTYPE_BITS
    )
    assert str(caught.value).count("`") == 2 * (len(DTYPE_BITS) + 1)


def _written(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "truncated"),
        (b"\0" * 7, "truncated"),
        (framed("{}")[:9], "truncated"),
        (struct.pack("<Q", 1000) + b"{", "truncated"),
        (struct.pack("<Q", 2**63) + b"{}", "over-limit"),
        (struct.pack("<Q", 100_000_001) + b"{}", "over-limit"),
        (b"<!DOCTYPE html>", "bad-header"),
        (b"version https://git-lfs.github.com/spec/v1\n", "bad-header"),
        (framed(" {}", b""), "bad-header"),
        (framed(""), "bad-header"),
        (framed("[]"), "bad-header"),
        (framed('{"a":'), "bad-header"),
        (framed("{}x", b""), "bad-header"),
        (framed(b'{"\xff":1}'), "bad-header"),
        (framed(f'{{"\\ud800":{entry()}}}'), "bad-header"),
        (framed(f'{{"a":{entry(offsets="[-0,8]")}}}'), "bad-header"),
        (framed(f'{{"a":{entry(shape="[NaN]")}}}'), "bad-header"),
        (framed('{"a":' + "[" * 10_000 + "]" * 10_000 + "}"), "bad-header"),
        (framed('{"a":' * 10_000 + "1" + "}" * 10_000), "bad-header"),
        (framed(f'{{"a":{entry(shape="[" + "9" * 5000 + "]")}}}'), "bad-header"),
        (framed(f'{{"__metadata__":{{"x":1}},"a":{entry()}}}'), "bad-header"),
        (framed(f'{{"__metadata__":{{"x":"\\ud800"}},"a":{entry()}}}'), "bad-header"),
        (framed(f'{{"__metadata__":[],"a":{entry()}}}'), "bad-header"),
        (framed(f'{{"a":{entry()},"a":{entry()}}}'), "duplicate-key"),
        (framed(f'{{"__metadata__":{{"x":"1","x":"2"}},"a":{entry()}}}'), "duplicate-key"),
        (framed('{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}'),
         "duplicate-key"),
        (framed('{"a":1}'), "bad-tensor"),
        (framed('{"a":["F32",[2],[0,8]]}'), "bad-tensor"),
        (framed('{"a":{"shape":[2],"data_offsets":[0,8]}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(dtype="F33")}}}'), "bad-tensor"),
        (framed('{"a":{"dtype":["F32"],"shape":[2],"data_offsets":[0,8]}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(shape="[true,2]")}}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(shape="[-1,-2]")}}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(shape="[2.0]")}}}'), "bad-tensor"),
        (framed('{"a":{"dtype":"F32","shape":"","data_offsets":[0,4]}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(offsets="[0,8,8]")}}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(offsets="[false,8]")}}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(offsets="[8,0]")}}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(offsets="[0,7]")}}}'), "bad-tensor"),
        (framed(f'{{"a":{entry(dtype="F4", shape="[15]")}}}'), "bad-tensor"),
        (framed(f'{{"z":{entry(shape="[1099511627776,1099511627776,0]", offsets="[8,8]")},'
                f'"a":{entry()}}}'), "bad-tensor"),
        (framed(f'{{"a":{entry()},"b":{entry(offsets="[4,12]")}}}', b"\0" * 12), "overlap"),
        (framed(f'{{"a":{entry()},"b":{entry(offsets="[0,8]")}}}'), "overlap"),
        (framed(f'{{"a":{entry()},"z":{entry(shape="[0]", offsets="[4,4]")}}}'), "overlap"),
        (framed(f'{{"a":{entry(offsets="[8,16]")}}}', b"\0" * 16), "gap"),
        (framed(f'{{"a":{entry()}}}', b"\0" * 9), "trailing-bytes"),
        (framed("{}"), "trailing-bytes"),
        (framed(f'{{"a":{entry()}}}', b"\0" * 7), "truncated"),
    ],
)  # fmt: skip
def test_each_fault_is_refused_by_its_kind(as_file, data, expected):
    assert problem(as_file, data) == expected


@pytest.mark.parametrize(
    "header",
    [
        f'{{"a":{entry()}}} \n\t ',
        f'{{"a":{entry()},"z":{entry(shape="[0]", offsets="[8,8]")}}}',
        f'{{"z":{entry(shape="[0,1099511627776,1099511627776]", offsets="[8,8]")},"a":{entry()}}}',
        f'{{"b":{entry(shape="[1]", offsets="[4,8]")},"a":{entry(shape="[1]", offsets="[0,4]")}}}',
        f'{{"__metadata__":null,"a":{entry()}}}',
        f'{{"__metadata__":{{}},"a":{entry()}}}',
        f'{{"a":{entry()},"__metadata__":{{"k":"v"}}}}',
        f'{{"\\u0000\\ud83d\\ude00\\n":{entry()}}}',
        f'{{"":{entry()}}}',
        f'{{" :a":{entry()}}}',
        '{"a":{"extra":[{"y":null}],"data_offsets":[0,8],"shape":[2],"dtype":"F32"}}',
    ],
)
def test_odd_but_sound_headers_are_read(as_file, tmp_path, header):
    data = framed(header)
    ours = read_header(as_file(data), "x").tensors
    assert {n: (t.dtype, t.shape) for n, t in ours.items()} == library(tmp_path / "x", data)


def test_a_file_without_tensors_is_sound(as_file):
    assert read_header(as_file(framed("{}", b"")), "x").tensors == {}
    only_texts = framed('{"__metadata__":{"a":"b"}}', b"")
    assert read_header(as_file(only_texts), "x").metadata == {"a": "b"}


def test_a_file_cut_at_any_byte_is_called_truncated(as_file):
    whole = framed(f'{{"a":{entry()}}}')
    read_header(as_file(whole), "x")
    assert {problem(as_file, whole[:size]) for size in range(len(whole))} == {"truncated"}


def test_a_truncated_file_still_shows_which_tensors_are_cut(producers, as_file):
    scan = scan_header(as_file(producers[0].read_bytes()[:-100]))
    assert [fault.problem for fault in scan.faults] == ["truncated"]
    assert scan.header is not None
    cut = [n for n, t in scan.header.tensors.items() if t.end > scan.header.file_size]
    assert scan.faults[0].tensor in cut


def test_a_scan_lists_every_broken_tensor_and_keeps_the_sound_ones(as_file):
    entries = [f'"t{i}":{entry(offsets="[8,0]")}' for i in range(3)]
    scan = scan_header(as_file(framed("{" + ",".join([*entries, f'"a":{entry()}']) + "}")))
    assert [fault.tensor for fault in scan.faults] == ["t0", "t1", "t2"]
    assert scan.header is not None
    assert list(scan.header.tensors) == ["a"]


def test_a_million_faults_are_told_in_a_hundred(as_file):
    entries = ",".join(f'"t{i}":1' for i in range(5000))
    assert len(scan_header(as_file(framed(f"{{{entries}}}"))).faults) == 100


def test_a_header_of_brackets_is_refused_before_it_is_built(as_file):
    data = framed(b'{"a":[' + b"[]," * 2_500_000 + b"[]]}")
    assert problem(as_file, data) == "over-limit"


def test_a_hostile_name_is_shown_as_escapes(as_file):
    name = "\\u001b[31m\\n\\u202e<b>[bold]"
    with pytest.raises(HeaderError, match=r"\\x1b\[31m\\x0a\\u202e<b>") as caught:
        read_header(as_file(framed(f'{{"{name}":1}}')), "m\x1b.safetensors")
    assert str(caught.value).isprintable()


def test_a_header_error_survives_the_way_between_processes():
    with pytest.raises(HeaderError) as caught:
        raise_it()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.problem, str(again)) == (caught.value.problem, str(caught.value))


def raise_it():
    error = HeaderError("reading", "cut")
    error.problem = "truncated"
    raise error


BASE = save_numpy(
    {
        "a": np.zeros((2, 3), "<f4"), "b.weight": np.zeros(4, "<i8"), "é": np.zeros((), "<u2"),
        "empty": np.zeros((0, 5), "<f2"),
    },
    {"format": "pt"},
)  # fmt: skip
TOKENS = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"0", b"1", b"-", b" ", b"\\", b"true", b"null",
          b"4", b"8", b"24", b"F32", b"I64", b"1.0", b"\xff", b"\n", b'"a"',
          b"__metadata__"]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32))
def test_over_mutated_headers_we_and_the_library_agree(tmp_path_factory, as_file, seed):
    """What the library accepts we accept alike, and the other way round, but for three forms.

    The forms, named in the module: one name twice, blanks in front, an entry as a list.
    """
    chance = random.Random(seed)
    length = int.from_bytes(BASE[:8], "little")
    raw, body = BASE[8 : 8 + length], BASE[8 + length :]
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        at, cut = chance.randrange(len(raw)), chance.choice([0, 1, 1, 2, 5])
        raw = raw[:at] + chance.choice([*TOKENS, b""]) + raw[at + cut :]
    data = framed(raw, body[: chance.choice([len(body)] * 4 + [len(body) - 1])])
    theirs = library(tmp_path_factory.getbasetemp() / "mutated", data)
    scan = scan_header(as_file(data))
    if scan.faults and theirs is not None:
        assert scan.faults[0].problem == "duplicate-key" or raw[:1] in b" \n\t", scan.faults
        return
    ours = None if scan.faults else scan.header.tensors
    assert (ours and {n: (t.dtype, t.shape) for n, t in ours.items()}) == (theirs and theirs)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LAYOUTS = st.dictionaries(
    NAMES.filter(lambda name: name != "__metadata__"),
    st.tuples(
        st.sampled_from(["F32", "I64", "BF16", "BOOL"]), st.lists(st.integers(0, 4), max_size=3)
    ),
    max_size=6,
)


@settings(max_examples=100, deadline=None)
@given(LAYOUTS, st.dictionaries(NAMES, NAMES, max_size=3), st.booleans(), st.randoms())
def test_both_ways_to_read_a_sound_header_give_the_same(as_file, layouts, metadata, ascii_, chance):
    at, table = 0, {"__metadata__": metadata} if metadata else {}
    for name, (dtype, shape) in chance.sample(sorted(layouts.items()), len(layouts)):
        size = DTYPE_BITS[dtype] // 8 * int(np.prod(shape))
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    compact = json.dumps(table, separators=(",", ":"), ensure_ascii=ascii_)
    spaced = json.dumps(table, indent=1)
    one = read_header(as_file(framed(compact, b"\0" * at)), "x")
    two = read_header(as_file(framed(spaced, b"\0" * at)), "x")
    assert list(one.tensors) == [name for name in table if name != "__metadata__"]
    shift = two.data_start - one.data_start
    moved = {
        n: t._replace(begin=t.begin + shift, end=t.end + shift) for n, t in one.tensors.items()
    }
    assert (moved, one.metadata) == (two.tensors, two.metadata)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_random_bytes_never_break_the_reader(as_file, junk):
    for data in (junk, struct.pack("<Q", len(junk)) + junk, framed(b"{" + junk)):
        scan = scan_header(as_file(data))
        assert scan.faults or scan.header
