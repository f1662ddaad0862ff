import json
from pathlib import Path

import pytest
from safetensors import safe_open
from write_kit import (
    as_the_library_reads,
    bf16,
    ids,
    prepared,
    staged,
    value_of,
    write_safetensors,
    write_shards,
)

from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.artifact.files import DiskTree
from hypotree.errors import HypotreeError, LimitError, MalformedError, MisuseError
from hypotree.fix.stage import stage
from hypotree.model.edit import InsertTensor, MinusArange, RenameTensors, ReplaceTensor, TensorFrom

FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


@pytest.fixture
def truth(tmp_path):
    return write_safetensors(
        tmp_path / "truth.safetensors",
        {
            "d2t": ids(0, 3, 3, 9),
            "w": bf16(4, 2, seed=7),
            "mask": value_of("BOOL", (3,), 5),
            "half": value_of("F16", (3,), 6),
            "empty": value_of("F32", (0, 4)),
        },
    )


@pytest.fixture
def single(tmp_path):
    return write_safetensors(
        tmp_path / "model.safetensors",
        {"layers.0.w": bf16(4, 2), "d2t": ids(0, 4, 5, 12), "norm": bf16(4), "b": value_of("BOOL", (3,))},
        {"format": "pt", "made": "by hand"},
    )  # fmt: skip


@pytest.fixture
def sharded(tmp_path):
    return write_shards(
        tmp_path / "draft",
        {
            FIRST: {"layers.0.w": bf16(4, 2), "fc": bf16(2, 2, seed=2)},
            SECOND: {"norm": bf16(4), "d2t": ids(0, 4, 5, 12)},
        },
        extra={"made_by": {"tool": "ünïcode", "n": [1, 2]}},
    )


def check_view_is_what_the_library_will_read(locator, tmp_path, *edits, **artifacts):
    """Swap for real, then compare the view's every tensor with the library's reading of the file."""
    ready = prepared(locator, tmp_path / "undo", *edits, **artifacts)
    view = staged(locator, *edits, **artifacts)
    seen = Checkpoint(str(locator), view)
    expected = {name: seen.tensor(name) for name in seen.names()}
    ready.write()
    files = [locator] if locator.is_file() else sorted(locator.glob("*.safetensors"))
    found = {name: value for file in files for name, value in as_the_library_reads(file).items()}
    assert found == expected
    return found


@pytest.mark.parametrize("form", ["single", "sharded"])
def test_renamed_tensors_have_new_names_and_the_same_bytes(form, request, tmp_path):
    locator = request.getfixturevalue(form)
    found = check_view_is_what_the_library_will_read(
        locator, tmp_path, RenameTensors({"layers.0.w": "midlayer.w", "norm": "final"})
    )
    assert found["midlayer.w"] == bf16(4, 2)
    assert found["final"] == bf16(4)
    assert not {"layers.0.w", "norm"} & set(found)


@pytest.mark.parametrize("form", ["single", "sharded"])
def test_a_replaced_tensor_has_the_truths_bytes_and_all_others_their_own(
    form, request, truth, tmp_path
):
    locator = request.getfixturevalue(form)
    before = Checkpoint(str(locator))
    kept = {n: before.tensor(n) for n in before.names() if n != "d2t"}
    found = check_view_is_what_the_library_will_read(
        locator, tmp_path, ReplaceTensor("d2t", TensorFrom("truth", "d2t")), truth=truth
    )
    assert found == kept | {"d2t": ids(0, 3, 3, 9)}


@pytest.mark.parametrize("name", ["d2t", "w", "mask", "half", "empty"])
@pytest.mark.parametrize("form", ["single", "sharded"])
def test_an_inserted_tensor_is_there_and_every_tensor_is_aligned(
    form, name, request, truth, tmp_path
):
    locator = request.getfixturevalue(form)
    found = check_view_is_what_the_library_will_read(
        locator, tmp_path, InsertTensor("new", TensorFrom("truth", name)), truth=truth
    )
    assert found["new"] == as_the_library_reads(truth)[name]
    after = Checkpoint(str(locator))
    for header in after.headers().values():
        for where in header.tensors.values():
            width = {"I64": 8, "BF16": 2, "F16": 2, "F32": 4, "BOOL": 1}[where.dtype]
            assert (where.begin - header.data_start) % width == 0


def test_a_tensor_that_would_be_misaligned_at_the_end_goes_where_all_stay_aligned(tmp_path):
    path = write_safetensors(
        tmp_path / "model.safetensors", {"ids": ids(1, 2), "odd": value_of("BOOL", (3,))}
    )
    extra = write_safetensors(tmp_path / "t.safetensors", {"half": value_of("F16", (3,))})
    view = staged(path, InsertTensor("half", TensorFrom("t", "half")), t=extra)
    header = Checkpoint(str(path), view).headers()["model.safetensors"]
    assert sorted(header.tensors, key=lambda n: header.tensors[n].begin) == ["ids", "half", "odd"]


def test_two_names_can_be_exchanged(single, tmp_path):
    found = check_view_is_what_the_library_will_read(
        single, tmp_path, RenameTensors({"layers.0.w": "norm", "norm": "layers.0.w"})
    )
    assert found["norm"] == bf16(4, 2)
    assert found["layers.0.w"] == bf16(4)


def test_names_exchanged_across_shards_keep_the_index_true(sharded, tmp_path):
    check_view_is_what_the_library_will_read(
        sharded, tmp_path, RenameTensors({"fc": "norm", "norm": "fc"})
    )
    weight_map = json.loads((sharded / INDEX).read_text())["weight_map"]
    assert weight_map == {"layers.0.w": FIRST, "norm": FIRST, "fc": SECOND, "d2t": SECOND}


@pytest.mark.parametrize(
    "names",
    [{"norm": "d2t"}, {"norm": "x", "layers.0.w": "x"}, {"norm": "d2t", "d2t": "d2t"}],
    ids=["onto a tensor that stays", "two onto one", "onto one that keeps its name"],
)
@pytest.mark.parametrize("form", ["single", "sharded"])
def test_a_rename_onto_a_name_that_is_taken_is_refused(form, names, request):
    with pytest.raises(MisuseError, match="two tensors would be called"):
        staged(request.getfixturevalue(form), RenameTensors(names))


@pytest.mark.parametrize("new", ["", "__metadata__", "\ud800"])
def test_a_name_that_the_format_cannot_hold_is_refused(single, new):
    with pytest.raises(MisuseError, match="naming a tensor"):
        staged(single, RenameTensors({"norm": new}))


def test_a_rename_of_what_is_not_there_is_refused(single):
    with pytest.raises(MisuseError, match="no tensor 'nope' to rename"):
        staged(single, RenameTensors({"nope": "x"}))


def test_a_rename_elsewhere_does_not_mind_a_name_that_two_shards_hold_already(tmp_path):
    folder = tmp_path / "draft"
    write_safetensors(folder / "a.safetensors", {"twice": bf16(2), "x": bf16(1)})
    write_safetensors(folder / "b.safetensors", {"twice": bf16(2)})
    view = staged(folder, RenameTensors({"x": "y"}))
    assert set(view.staged) == {"a.safetensors"}


@pytest.mark.parametrize("wrong", ["w", "mask", "empty"])
def test_new_values_of_another_dtype_or_shape_are_refused(single, truth, wrong):
    with pytest.raises(MisuseError, match=r"they are .* it is I64"):
        staged(single, ReplaceTensor("d2t", TensorFrom("truth", wrong)), truth=truth)


def test_inserting_what_is_there_is_refused(single, truth):
    with pytest.raises(MisuseError, match="already"):
        staged(single, InsertTensor("d2t", TensorFrom("truth", "d2t")), truth=truth)


def test_ids_that_do_not_fit_the_dtype_are_refused(tmp_path):
    path = write_safetensors(tmp_path / "model.safetensors", {"d2t": ids(0, 0, dtype="U8")})
    with pytest.raises(HypotreeError, match="does not fit U8"):
        staged(path, ReplaceTensor("d2t", MinusArange("d2t")))


HOSTILE = [
    'a"b\\c', "new\nline", "\x1b[31mred", "\u202egnp", "名前.weight", "../../etc/passwd", "a" * 3000,
    "\U0001f40d", " ", "{}", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=[f"name{i}" for i in range(len(HOSTILE))])
def test_any_text_can_be_a_tensors_name_and_stays_what_it_was(tmp_path, name):
    path = write_safetensors(tmp_path / "model.safetensors", {name: bf16(2), "x": bf16(3)})
    found = check_view_is_what_the_library_will_read(
        path, tmp_path, RenameTensors({"x": f"{name}!", name: "x"})
    )
    assert found == {"x": bf16(2), f"{name}!": bf16(3)}


def test_metadata_keeps_every_key_and_their_order(tmp_path):
    metadata = {f"k{i * 7919 % 1000:03}": f"välue {i}\n" for i in range(1000)}
    path = write_safetensors(tmp_path / "model.safetensors", {"a": bf16(2)}, metadata)
    prepared(path, tmp_path / "undo", RenameTensors({"a": "b"})).write()
    with safe_open(path, "np") as file:
        assert dict(file.metadata()) == metadata
    head = path.read_bytes()[8:]
    assert list(json.JSONDecoder().raw_decode(head.decode("latin-1"))[0]["__metadata__"]) == list(
        metadata
    )


def test_empty_metadata_stays_and_absent_metadata_is_not_made_up(tmp_path):
    for metadata, name in (({}, "with"), (None, "without")):
        path = write_safetensors(tmp_path / f"{name}.safetensors", {"a": bf16(2)}, metadata)
        prepared(path, tmp_path / "undo", RenameTensors({"a": "b"})).write()
        assert (b"__metadata__" in path.read_bytes()) is (metadata is not None)


@pytest.mark.parametrize("room", [0, 512, 4096])
def test_the_data_stays_where_it_was_if_the_new_header_fits(tmp_path, room):
    path = write_safetensors(tmp_path / "model.safetensors", {"abc": bf16(2)}, room=room)
    old = Checkpoint(str(path)).headers()["model.safetensors"].data_start
    view = staged(path, RenameTensors({"abc": "xy"}))
    new = Checkpoint(str(path), view).headers()["model.safetensors"].data_start
    assert new == old


def test_a_header_that_grows_moves_the_data_by_whole_pages(tmp_path):
    path = write_safetensors(tmp_path / "model.safetensors", {"a": bf16(2), "z": bf16(5)}, room=256)
    found = check_view_is_what_the_library_will_read(
        path, tmp_path, RenameTensors({"a": "b" * 5000})
    )
    assert found["b" * 5000] == bf16(2)
    assert (Checkpoint(str(path)).headers()["model.safetensors"].data_start - 264) % 4096 == 0


@pytest.mark.parametrize("order", [["e", "full"], ["full", "e"]])
def test_an_empty_tensor_beside_another_does_not_make_its_file_change(tmp_path, order):
    folder = tmp_path / "draft"
    tensors = {"e": value_of("F32", (0, 3)), "full": bf16(2)}
    write_safetensors(folder / "a.safetensors", tensors, order=order)
    write_safetensors(folder / "b.safetensors", {"x": bf16(1)})
    view = staged(folder, RenameTensors({"x": "y"}))
    assert set(view.staged) == {"b.safetensors"}
    found = check_view_is_what_the_library_will_read(
        folder, tmp_path, RenameTensors({"e": "empty", "full": "f"})
    )
    assert found["empty"] == value_of("F32", (0, 3))


def test_a_file_of_empty_tensors_only_can_be_renamed(tmp_path):
    path = write_safetensors(tmp_path / "m.safetensors", {"e": value_of("F32", (0,))})
    assert check_view_is_what_the_library_will_read(path, tmp_path, RenameTensors({"e": "f"})) == {
        "f": value_of("F32", (0,))
    }


def test_the_index_is_kept_true_and_what_it_says_besides_stays(sharded, truth, tmp_path):
    before = json.loads((sharded / INDEX).read_text())
    check_view_is_what_the_library_will_read(
        sharded, tmp_path,
        RenameTensors({"layers.0.w": "midlayer.w"}), InsertTensor("t", TensorFrom("truth", "d2t")),
        truth=truth,
    )  # fmt: skip
    after = json.loads((sharded / INDEX).read_text())
    assert list(after) == list(before)
    assert after["made_by"] == before["made_by"]
    assert after["metadata"]["total_size"] == before["metadata"]["total_size"] + 32
    assert list(after["weight_map"].items()) == [
        ("midlayer.w", FIRST), ("fc", FIRST), ("norm", SECOND), ("d2t", SECOND), ("t", SECOND),
    ]  # fmt: skip


def test_the_index_is_untouched_when_only_values_change(sharded, truth):
    view = staged(sharded, ReplaceTensor("d2t", TensorFrom("truth", "d2t")), truth=truth)
    assert set(view.staged) == {SECOND}


def test_one_shard_given_alone_leaves_the_other_shards_entries_in_the_index(sharded, tmp_path):
    prepared(sharded / SECOND, tmp_path / "undo", RenameTensors({"norm": "n"})).write()
    assert json.loads((sharded / INDEX).read_text())["weight_map"] == {
        "layers.0.w": FIRST, "fc": FIRST, "n": SECOND, "d2t": SECOND,
    }  # fmt: skip


def test_an_index_that_was_wrong_before_is_not_mended_in_passing(sharded, tmp_path):
    index = json.loads((sharded / INDEX).read_text())
    index["weight_map"]["ghost"] = FIRST
    (sharded / INDEX).write_text(json.dumps(index))
    prepared(sharded, tmp_path / "undo", RenameTensors({"norm": "n"})).write()
    assert json.loads((sharded / INDEX).read_text())["weight_map"]["ghost"] == FIRST


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", MalformedError),
        ("[]", MalformedError),
        ('{"weight_map": []}', MalformedError),
        ("{}", MalformedError),
        ('{"weight_map": {"a": 1, "a": 2}}', MalformedError),
        ("[" * 100_000, LimitError),
    ],
)
def test_a_broken_index_is_said_and_nothing_is_staged(sharded, text, error):
    (sharded / INDEX).write_text(text)
    with pytest.raises(error, match="index"):
        staged(sharded, RenameTensors({"norm": "n"}))


class CountingFile:
    def __init__(self, file, reads):
        self.file, self.reads = file, reads

    @property
    def size(self):
        return self.file.size

    def read(self, offset, length):
        self.reads.append((offset, offset + length))
        return self.file.read(offset, length)


class CountingTree(DiskTree):
    """Notes every byte range that is read of the file it is asked for."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.reads: list[tuple[int, int]] = []

    def open(self, name):
        return CountingFile(super().open(name), self.reads)


def test_untouched_tensors_are_never_read_while_a_view_is_made(tmp_path, truth):
    path = write_safetensors(
        tmp_path / "d" / "model.safetensors",
        {"big": bf16(1000, 50), "d2t": ids(0, 4, 5, 12), "w": bf16(1000, 50)},
    )
    tree = CountingTree(path.parent)
    subject = Checkpoint(str(path.parent), tree)
    edits = (
        RenameTensors({"big": "large"}), ReplaceTensor("d2t", TensorFrom("truth", "d2t")),
        InsertTensor("more", TensorFrom("truth", "d2t")),
    )  # fmt: skip
    stage(subject, edits, {"truth": Checkpoint(str(truth))})
    data_start = subject.headers()["model.safetensors"].data_start
    assert max(end for _, end in tree.reads) <= data_start


def test_a_plan_reads_the_touched_tensors_only(tmp_path, truth):
    from hypotree.fix.plan import make_plan

    path = write_safetensors(
        tmp_path / "d" / "model.safetensors",
        {"big": bf16(1000, 50), "d2t": ids(0, 4, 5, 12), "w": bf16(1000, 50)},
    )
    tree = CountingTree(path.parent)
    subject = Checkpoint(str(path.parent), tree)
    edits = (RenameTensors({"big": "l"}), ReplaceTensor("d2t", TensorFrom("truth", "d2t")))
    view = stage(subject, edits, {"truth": Checkpoint(str(truth))})
    plan = make_plan("H1", "x", "draft", subject, view, edits)
    touched = subject.layout("d2t")
    data_start = subject.headers()["model.safetensors"].data_start
    for begin, end in tree.reads:
        assert end <= data_start or (touched.begin <= begin and end <= touched.end)
    (file,) = plan.files
    assert [(c.before, c.after, c.changed) for c in file.tensors] == [
        ("big", "l", 0), ("d2t", "d2t", 3),
    ]  # fmt: skip
    assert file.tensors[1].rows == ((1, 4, 3), (2, 5, 3), (3, 12, 9))
