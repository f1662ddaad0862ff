import contextlib
import io
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hypotree.artifact import torch_fallback
from hypotree.artifact.tensor import TensorValue
from hypotree.artifact.torch_fallback import library_words
from hypotree.artifact.torch_file import read_torch_file
from hypotree.artifact.torch_globals import DTYPES
from hypotree.errors import LimitError, MalformedError, UnreadableError

ROOT = Path(__file__).resolve().parents[3]
FORMS = {"zip": {}, "legacy": {"_use_new_zipfile_serialization": False}}


def saved(value, form="zip", **options):
    buffer = io.BytesIO()
    torch.save(value, buffer, **FORMS[form], **options)
    return buffer.getvalue()


def rezipped(data, change=None, **options):
    """The same records in a new zip, some replaced by `change`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", **options) as new:
        for record in old.infolist():
            name = record.filename.partition("/")[2]
            new.writestr(record.filename, (change or {}).get(name, old.read(record)))
    return buffer.getvalue()


def as_value(tensor):
    dense = torch.empty(tensor.numel(), dtype=tensor.dtype)
    raw = dense.copy_(tensor.detach().reshape(-1)).view(torch.uint8).numpy().tobytes()
    return TensorValue(DTYPES[str(tensor.dtype)], tuple(tensor.shape), raw)


@pytest.fixture
def no_torch(monkeypatch):
    """Fails a test in which the closed unpickler hands over to torch."""

    def refuse(*_):
        pytest.fail("torch was asked")

    monkeypatch.setattr(torch_fallback, "load_with_torch", refuse)


D2T = torch.tensor([0, 3, 3, -2], dtype=torch.int64)
T2D = torch.tensor([True, False, True, True])


@pytest.mark.parametrize("form", FORMS)
def test_a_bare_map_and_eagles_cache_are_read(as_file, form, no_torch):
    assert read_torch_file(as_file(saved(D2T, form)), "d2t.pt").integers() == [0, 3, 3, -2]
    cache = read_torch_file(as_file(saved({"d2t": D2T, "t2d": T2D}, form)), "cache.pt")
    assert cache == {"d2t": as_value(D2T), "t2d": as_value(T2D)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_every_dtype_keeps_its_bytes(as_file, form, dtype, no_torch):
    kind = getattr(torch, dtype.removeprefix("torch."))
    tensor = torch.arange(6).reshape(2, 3).to(torch.float32).to(kind)
    assert read_torch_file(as_file(saved(tensor, form)), "x.pt") == as_value(tensor)


@pytest.mark.parametrize("form", FORMS)
def test_nested_values_come_out_as_plain_ones(as_file, form, no_torch):
    value = OrderedDict(
        a=[1, -(2**40), 2**63, 1.5, None, True, "x\n", [], {}, ()],
        b={"t": D2T, 5: (D2T, D2T), "size": torch.Size([2, 3])},
        kind=torch.float32, where=torch.device("cpu"),
    )  # fmt: skip
    read = read_torch_file(as_file(saved(value, form)), "x.pt")
    assert read["a"] == [1, -(2**40), 2**63, 1.5, None, True, "x\n", [], {}, []]
    assert read["b"] == {"t": as_value(D2T), 5: [as_value(D2T)] * 2, "size": [2, 3]}
    assert (read["kind"], read["where"]) == ("torch.float32", "cpu")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_newer_pickle_protocols_are_read(as_file, protocol, no_torch):
    data = saved({"d2t": D2T, "n": 300, "raw": "é"}, pickle_protocol=protocol)
    assert read_torch_file(as_file(data), "x.pt") == {"d2t": as_value(D2T), "n": 300, "raw": "é"}


@pytest.mark.parametrize("form", FORMS)
def test_a_modules_state_dict_is_read_with_its_parameters(as_file, form, no_torch):
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    read = read_torch_file(as_file(saved(module.state_dict(), form)), "x.pt")
    assert read == {name: as_value(t) for name, t in module.state_dict().items()}
    parameter = saved({"w": module[0].weight}, form)
    assert read_torch_file(as_file(parameter), "x.pt") == {"w": as_value(module[0].weight)}


@pytest.mark.parametrize("form", FORMS)
def test_views_and_strides_are_laid_out_row_major(as_file, form, no_torch):
    base = torch.arange(24, dtype=torch.int16).reshape(2, 3, 4)
    views = {
        "t": base.permute(2, 0, 1), "slice": base[:, 1:, ::2], "row": base[1, 2],
        "one": base[1, 1, 1],
        "wide": base[:1, :1].expand(3, 5, 4), "last": base[..., :1].expand(2, 3, 5),
        "empty": base[:, :0], "scalar": torch.tensor(7),
    }  # fmt: skip
    read = read_torch_file(as_file(saved(views, form)), "x.pt")
    assert read == {name: as_value(view) for name, view in views.items()}


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.randoms(),
    st.sampled_from(sorted(FORMS)),
)
def test_any_view_of_a_tensor_reads_as_torch_reads_it(as_file, shape, chance, form):
    tensor = torch.arange(int(torch.tensor(shape).prod()), dtype=torch.int32).reshape(shape)
    tensor = tensor.permute(chance.sample(range(len(shape)), len(shape)))
    for axis, length in enumerate(tensor.shape):
        start, step = chance.randrange(length + 1), chance.choice([1, 1, 2])
        tensor = tensor.narrow(axis, start, length - start)[
            (slice(None),) * axis + (slice(None, None, step),)
        ]
    assert read_torch_file(as_file(saved(tensor, form)), "x.pt") == as_value(tensor)


def test_files_saved_without_checksums_are_read(as_file, no_torch):
    torch.serialization.set_crc32_options(False)
    try:
        data = saved(D2T)
    finally:
        torch.serialization.set_crc32_options(True)
    assert read_torch_file(as_file(data), "x.pt") == as_value(D2T)


def test_files_zipped_again_are_read_and_bombs_are_not(as_file, no_torch):
    data = saved({"d2t": D2T})
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        again = rezipped(data, compression=packing)
        assert read_torch_file(as_file(again), "x.pt") == {"d2t": as_value(D2T)}
    big = saved(torch.zeros(70 * 1024 * 1024, dtype=torch.uint8))
    bomb = rezipped(big, compression=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 200_000
    with pytest.raises(LimitError, match="unfolds"):
        read_torch_file(as_file(bomb), "x.pt")


def test_a_packed_record_larger_than_it_declares_is_refused(as_file):
    data = bytearray(rezipped(saved(torch.zeros(999)), compression=zipfile.ZIP_DEFLATED))
    spot = data.index(struct.pack("<I", 3996), data.index(b"PK\1\2"))
    data[spot : spot + 4] = struct.pack("<I", 400)
    with pytest.raises(MalformedError):
        read_torch_file(as_file(bytes(data)), "x.pt")


def test_a_big_endian_file_is_refused(as_file):
    with pytest.raises(UnreadableError, match="big-endian"):
        read_torch_file(as_file(rezipped(saved(D2T), {"byteorder": b"big"})), "x.pt")


def test_flipped_bits_are_found_by_the_checksum(as_file):
    data = saved(D2T).replace(D2T.numpy().tobytes(), (D2T + 1).numpy().tobytes())
    with pytest.raises(MalformedError, match="checksum"):
        read_torch_file(as_file(data), "x.pt")


def test_tensors_that_multiply_the_files_bytes_are_refused(as_file):
    with pytest.raises(LimitError, match="far more bytes"):
        read_torch_file(as_file(saved(torch.zeros(1).expand(2**40))), "x.pt")
    many = [torch.zeros(1).expand(2**24) for _ in range(20)]
    with pytest.raises(LimitError, match="far more bytes"):
        read_torch_file(as_file(saved(many)), "x.pt")


def test_strided_tensors_of_a_million_lines_are_refused(as_file):
    with pytest.raises(LimitError, match="far more bytes"):
        read_torch_file(as_file(saved(torch.zeros(1, dtype=torch.uint8).expand([2] * 27))), "x.pt")


def test_values_that_share_or_hold_themselves_are_counted_each_time(as_file):
    laughs: object = "x"
    for _ in range(30):
        laughs = [laughs] * 10
    loop: list[object] = []
    loop.append(loop)
    for value in (laughs, loop):
        with pytest.raises(LimitError, match="values or"):
            read_torch_file(as_file(saved(value)), "x.pt")


@pytest.mark.parametrize("form", FORMS)
def test_a_file_cut_at_any_byte_is_refused(as_file, form):
    whole = saved({"d2t": D2T}, form)
    for size in range(len(whole)):
        with pytest.raises(UnreadableError) as caught:
            read_torch_file(as_file(whole[:size]), "x.pt")
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=150, deadline=None)
@given(st.randoms())
def test_a_damaged_file_is_read_or_refused_and_nothing_else(as_file, form, chance):
    data = bytearray(saved({"d2t": D2T, "n": [1, "a"]}, form))
    for _ in range(chance.choice([1, 1, 2, 5])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    with contextlib.suppress(UnreadableError):
        read_torch_file(as_file(bytes(data)), "x.pt")


class Runs:
    """Creates a file when a pickle of it is loaded in earnest."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "the code ran"


def hostile(marker):
    command = f"touch '{marker}'"
    yield Runs(os.system, command)
    yield {"d2t": D2T, "x": Runs(eval, f"open({str(marker)!r}, 'w')")}
    yield Runs(subprocess.check_call, ["touch", str(marker)])
    yield Runs(torch.hub.load_state_dict_from_url, "http://127.0.0.1:9/x")
    yield Runs(exec, f"open({str(marker)!r}, 'w')")
    yield Runs(getattr, "".join, "__class__")


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("form", ["zip", "legacy", "bare"])
def test_a_pickle_that_runs_code_is_refused_and_does_not_run(as_file, marker, number, form):
    value = list(hostile(marker))[number]
    data = pickle.dumps(value, 2) if form == "bare" else saved(value, form)
    with pytest.raises(UnreadableError) as caught:
        read_torch_file(as_file(data), "d2t.pt")
    assert not marker.exists()
    text = str(caught.value)
    assert text.isprintable()
    assert "weights_only" not in text.lower()
    assert "safe_globals" not in text
    if form != "bare" and number == 0:
        assert "posix.system" in text
        assert "not run" in text


def pickled(body):
    """A torch zip whose pickle is the given opcodes."""
    return rezipped(saved(D2T), {"data.pkl": b"\x80\x02" + body})


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"K\x01r\xff\xff\xff\xff.", None),  # a memo index that costs 64 GB elsewhere
        (b"ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x01sb.", UnreadableError),
        (b"(" * 100_000 + b".", MalformedError),
        (b"N" + b"\x85" * 100_000 + b".", LimitError),
        (b"}N" + b"\x85" * 100_000 + b"Ns.", MalformedError),  # a key as deep as the stack
        (b"X\xff\xff\xff\x7fa.", MalformedError),
        (b"h\x05.", MalformedError),
        (b"0.", UnreadableError),
        (b"ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x01K\x01K\x01tR.", MalformedError),
        (b"X\x07\x00\x00\x00storageQ.", UnreadableError),
        (b"ctorch\nLongStorage\n.", None),
        (b"c" + b"a" * 5000 + b"\nb\n.", MalformedError),
        (b"\x82\x01.", UnreadableError),  # EXT1: copyreg's side door around find_class
        (b"", MalformedError),
    ],
)
def test_pickles_made_by_hand_do_no_harm(as_file, body, error):
    if error is None:
        read_torch_file(as_file(pickled(body)), "x.pt")
        return
    with pytest.raises(error):
        read_torch_file(as_file(pickled(body)), "x.pt")


def test_a_tensor_beyond_its_storage_is_refused(as_file):
    with zipfile.ZipFile(io.BytesIO(saved(D2T))) as archive:
        body = archive.read("archive/data.pkl")
    longer = body.replace(b"K\x04\x85", b"K\x05\x85")
    assert longer != body
    with pytest.raises(MalformedError, match="needs bytes 0 to 40"):
        read_torch_file(as_file(rezipped(saved(D2T), {"data.pkl": longer})), "x.pt")


def test_two_records_of_one_name_are_refused(as_file):
    buffer = io.BytesIO(saved(D2T))
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("archive/data/0", b"\0" * 32)
    with pytest.raises(MalformedError, match="one name"):
        read_torch_file(as_file(buffer.getvalue()), "x.pt")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (struct.pack("<Q", 2) + b"{}", "safetensors"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "git-lfs"),
        (pickle.dumps({"a": 1}), "bare pickle"),
        (b"\x1b[31m<html>", r"\\x1b\[31m<html>"),
        (b"PK\3\4" + b"\0" * 100, "no sound zip"),
    ],
)
def test_what_is_no_torch_file_is_named(as_file, data, words):
    with pytest.raises(UnreadableError, match=words):
        read_torch_file(as_file(data), "d2t.pt")


def test_a_zip_directory_without_measure_is_refused_before_it_is_read(as_file):
    directory = b"\0" * (17 * 1024 * 1024)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(directory), 4, 0)
    with pytest.raises(LimitError, match="one part of it"):
        read_torch_file(as_file(b"PK\3\4" + directory + end), "x.pt")


def test_strides_of_another_rank_are_refused(as_file):
    with zipfile.ZipFile(io.BytesIO(saved(torch.tensor(7)))) as archive:
        body = archive.read("archive/data.pkl")
    longer = body.replace(b")q", b"K\x05\x85q", 2)
    for changed in (longer, body.replace(b"))", b")K\x05\x85")):
        if changed != body:
            with pytest.raises(MalformedError):
                read_torch_file(
                    as_file(rezipped(saved(torch.tensor(7)), {"data.pkl": changed})), "x"
                )


def test_a_zip_of_something_else_is_refused(as_file):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(UnreadableError, match=r"0 records called data\.pkl"):
        read_torch_file(as_file(buffer.getvalue()), "x.pt")


@pytest.mark.parametrize("form", FORMS)
def test_what_only_torch_knows_is_read_by_torch_with_weights_only(as_file, form):
    conjugate = torch.tensor([1 + 2j]).conj()
    value = {
        "count": Counter([3, 3, 4]),
        "raw": b"\x00\xff",
        "set": {1},
        "t": D2T[1::3],
        "c": conjugate,
    }
    read = read_torch_file(as_file(saved(value, form)), "token_freq.pt")
    assert read == {
        "count": {3: 2, 4: 1}, "raw": b"\x00\xff", "set": [1], "t": as_value(D2T[1::3]),
        "c": as_value(torch.tensor([1 - 2j])),
    }  # fmt: skip


def test_an_older_torch_is_not_asked(as_file, monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.9.1+cpu")
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("torch was asked"))
    with pytest.raises(UnreadableError, match=r"install torch 2\.10"):
        read_torch_file(as_file(saved(Counter([1]))), "x.pt")


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_module_is_refused_with_clean_words(as_file, form):
    with pytest.raises(UnreadableError) as caught:
        read_torch_file(as_file(saved(torch.nn.Linear(1, 1), form)), "x.pt")
    text = str(caught.value)
    assert "torch.nn.modules.linear.Linear" in text
    assert text.isprintable()
    assert not {"\\x1b", "weights_only", "trust", "http"} & set(text.replace("`", " ").split())


def test_the_librarys_own_words_lose_escapes_and_advice():
    text = (
        "Weights only load failed. \x1b[1mdo those steps only if you trust the source\x1b[0m.\n"
        "(1) Re-running `torch.load` with `weights_only` set to `False` will likely succeed.\n"
        "WeightsUnpickler error: Unsupported global: GLOBAL a.B was not an allowed global by "
        "default. Please use `torch.serialization.add_safe_globals([a.B])`.\nSee https://x.html."
    )
    words = library_words(text)
    assert "GLOBAL a.B was not an allowed global by default." in words
    assert not any(part in words for part in ("\x1b", "False", "safe_globals", "http", "trust"))
    assert library_words("") == "it gives no reason"


def test_a_plain_map_is_read_without_torch_and_numpy(tmp_path):
    path = tmp_path / "d2t.pt"
    path.write_bytes(saved(D2T))
    code = (
        "import sys; from pathlib import Path\n"
        "from hypotree.artifact.files import DiskFile\n"
        "from hypotree.artifact.torch_file import read_torch_file\n"
        f"print(read_torch_file(DiskFile(Path({str(path)!r})), 'd2t.pt').integers())\n"
        "print(sorted({'torch', 'numpy', 'yaml', 'msgspec', 'pickle'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout.splitlines() == ["[0, 3, 3, -2]", "[]"], run.stderr
