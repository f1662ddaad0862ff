import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypotree.artifact.npy_file import read_npy
from hypotree.errors import LimitError, MalformedError, UnreadableError


def saved(array, version=None):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=version)
    return buffer.getvalue()


def headed(text, data=b"\0" * 8, version=1):
    raw = text.encode()
    size = len(raw).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + raw + data


DTYPES = {"?": "BOOL", "u1": "U8", "i1": "I8", "u2": "U16", "i2": "I16", "u4": "U32", "i4": "I32",
          "u8": "U64", "i8": "I64", "f2": "F16", "f4": "F32", "f8": "F64", "c8": "C64"}  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(DTYPES)),
    st.sampled_from("<>"),
    st.lists(st.integers(0, 4), max_size=4),
    st.sampled_from("CF"),
    st.sampled_from([(1, 0), (2, 0), (3, 0)]),
)
def test_any_array_of_numbers_comes_back_row_major_and_little_endian(
    as_file, kind, order, shape, layout, version
):
    raw = np.arange(int(np.prod(shape)) * 8, dtype="u1").tobytes()
    dtype = np.dtype(kind)
    count = int(np.prod(shape))
    array = np.frombuffer(raw, dtype, count).reshape(shape).astype(dtype.newbyteorder(order))
    value = read_npy(as_file(saved(np.array(array, order=layout), version)), "x.npy")
    assert (value.dtype, value.shape) == (DTYPES[kind], tuple(shape))
    assert value.data == array.astype(dtype.newbyteorder("<")).tobytes("C")


def test_a_vocabulary_map_saved_by_speculators_reads_as_ids(as_file):
    d2t = np.array([0, 3, 3, -2], dtype=np.int64)
    assert read_npy(as_file(saved(d2t)), "d2t-4.npy").integers() == [0, 3, 3, -2]


def test_a_file_cut_at_any_byte_is_refused(as_file):
    whole = saved(np.arange(3))
    for size in range(len(whole)):
        with pytest.raises(MalformedError):
            read_npy(as_file(whole[:size]), "x.npy")


def test_extra_bytes_are_refused(as_file):
    with pytest.raises(MalformedError, match="the file has 25"):
        read_npy(as_file(saved(np.arange(3)) + b"\0"), "x.npy")


def test_arrays_of_objects_are_pickles_and_refused(as_file):
    buffer = io.BytesIO()
    np.save(buffer, np.array([object], dtype=object), allow_pickle=True)
    with pytest.raises(UnreadableError, match="pickle"):
        read_npy(as_file(buffer.getvalue()), "x.npy")


@pytest.mark.parametrize("array", [np.array(["a"]), np.zeros(1, "c16"), np.zeros(1, "M8[s]"),
                                   np.zeros(1, "V2"), np.zeros(1, [("a", "<i8")])])  # fmt: skip
def test_arrays_without_a_tensor_dtype_are_refused(as_file, array):
    with pytest.raises(UnreadableError, match=r"dtype|records"):
        read_npy(as_file(saved(array)), "x.npy")


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "x", "{'descr': '<i8', 'fortran_order': False}",
        "{'descr': '<i8', 'descr': '<i8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1 1,)}",
        "{'descr': '<i8', 'fortran_order': 'no', 'shape': (1,)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (" + "9" * 30 + ",)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (" + "1," * 100 + ")}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), 'x': __import__('os')}",
        "(" * 10_000, "-" * 60_000 + "1",
    ],
)  # fmt: skip
def test_broken_headers_are_refused(as_file, text):
    with pytest.raises(MalformedError):
        read_npy(as_file(headed(text)), "x.npy")


def test_headers_of_other_writers_and_of_python_2_are_read(as_file):
    text = '{"shape":(1L, ),"descr":"<i8","fortran_order":False}   \n'
    assert read_npy(as_file(headed(text)), "x.npy").shape == (1,)


def test_a_header_beyond_64_kib_is_refused(as_file):
    with pytest.raises(LimitError):
        read_npy(as_file(headed(" " * 70_000, version=2)), "x.npy")


def test_a_format_of_the_future_is_refused(as_file):
    with pytest.raises(UnreadableError, match=r"format is 4\.0"):
        read_npy(as_file(headed("{}", version=4)), "x.npy")
