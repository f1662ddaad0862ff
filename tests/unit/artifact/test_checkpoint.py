import json
import os

import pytest

from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.artifact.tensor import TensorValue
from hypotree.digest import ABSENT
from hypotree.errors import EscapeError, MalformedError, UnreadableError
from hypotree.fix.target import unsafe_reasons
from hypotree_probes.planting import blank, ids, safetensors_bytes

FC = TensorValue("BF16", (2, 3), bytes(range(12)))


def write(path, **tensors):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(safetensors_bytes({k.replace("__", "."): v for k, v in tensors.items()}))
    return path


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "draft" / "a.safetensors", fc=FC, d2t=ids([0, 3]))
    write(tmp_path / "draft" / "b.safetensors", norm=blank("F32", 4))
    (tmp_path / "draft" / "config.json").write_text('{"vocab_size": 9}')
    (tmp_path / "draft" / "notes.txt").write_text("mine")
    return tmp_path / "draft"


def test_a_folder_is_all_its_shards(folder):
    checkpoint = Checkpoint(str(folder))
    assert checkpoint.shards() == ("a.safetensors", "b.safetensors")
    assert checkpoint.names() == ("d2t", "fc", "norm")
    assert checkpoint.tensor("fc") == FC
    assert checkpoint.locate("norm")[0] == "b.safetensors"
    assert checkpoint.config() == {"vocab_size": 9}
    assert checkpoint.members() == ("a.safetensors", "b.safetensors", "config.json")


def test_a_file_is_itself_only_and_its_config_is_the_one_beside_it(folder):
    checkpoint = Checkpoint(str(folder / "a.safetensors"))
    assert checkpoint.is_single_file
    assert checkpoint.names() == ("d2t", "fc")
    assert checkpoint.config() == {"vocab_size": 9}


def test_what_is_not_there_is_absent_and_noted_as_such(tmp_path):
    path = write(tmp_path / "m.safetensors", fc=FC)
    checkpoint = Checkpoint(str(path))
    assert checkpoint.tensor("d2t") is None
    assert checkpoint.layout("d2t") is None
    assert checkpoint.config() == {}
    assert {(r.kind, r.name, r.sha256) for r in checkpoint.reads} == {
        ("tensor", "d2t", ABSENT), ("tensor-layout", "d2t", ABSENT), ("file", "config.json", ABSENT),
    }  # fmt: skip


def digests(path, *questions):
    checkpoint = Checkpoint(str(path))
    return [checkpoint.digest_of(kind, name) for kind, name in questions]


def test_renaming_another_tensor_leaves_a_tensors_digest_and_changes_the_names(tmp_path):
    one = write(tmp_path / "1" / "m.safetensors", fc=FC, norm=blank("F32", 4))
    two = write(tmp_path / "2" / "m.safetensors", a_much_longer_name=blank("F32", 4), fc=FC)
    same = [("tensor", "fc"), ("tensor-layout", "fc")]
    assert digests(one, *same) == digests(two, *same)
    other = [("tensor-names", ""), ("tensor-layouts", ""), ("header", "m.safetensors")]
    assert not set(digests(one, *other)) & set(digests(two, *other))


@pytest.mark.parametrize(
    "changed",
    [
        TensorValue("BF16", (2, 3), bytes([1, *range(1, 12)])),
        TensorValue("F16", (2, 3), FC.data),
        TensorValue("BF16", (3, 2), FC.data),
    ],
    ids=["a byte", "the dtype", "the shape"],
)
def test_a_byte_a_dtype_or_a_shape_changes_a_tensors_digest(tmp_path, changed):
    one = write(tmp_path / "1" / "m.safetensors", fc=FC)
    two = write(tmp_path / "2" / "m.safetensors", fc=changed)
    assert digests(one, ("tensor", "fc")) != digests(two, ("tensor", "fc"))


def test_every_read_can_be_asked_again_and_digests_the_same(folder):
    checkpoint = Checkpoint(str(folder))
    checkpoint.names(), checkpoint.layouts(), checkpoint.layout("fc"), checkpoint.tensor("fc")
    checkpoint.config()
    again = Checkpoint(str(folder))
    assert len(checkpoint.reads) == 5
    assert [again.digest_of(r.kind, r.name) for r in checkpoint.reads] == [
        r.sha256 for r in checkpoint.reads
    ]


def test_touching_a_file_changes_no_digest(folder):
    before = Checkpoint(str(folder)).content_digest()
    os.utime(folder / "a.safetensors", ns=(1, 1))
    assert Checkpoint(str(folder)).content_digest() == before
    (folder / "notes.txt").write_text("other")
    assert Checkpoint(str(folder)).content_digest() == before
    (folder / "config.json").write_text("{}")
    assert Checkpoint(str(folder)).content_digest() != before


@pytest.fixture
def hub(tmp_path):
    """A snapshot of a hub cache: names that are links to blobs by their hash."""
    repository = tmp_path / "models--org--draft"
    snapshot, blobs = repository / "snapshots" / "abc123", repository / "blobs"
    write(blobs / "0f1e", fc=FC, d2t=ids([0, 3]))
    (blobs / "77aa").write_text('{"vocab_size": 9}')
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").symlink_to("../../blobs/0f1e")
    (snapshot / "config.json").symlink_to("../../blobs/77aa")
    return snapshot


@pytest.mark.parametrize("part", ["", "model.safetensors"])
def test_a_hub_cache_is_read_through_its_links(hub, part):
    checkpoint = Checkpoint(str(hub / part))
    assert checkpoint.tensor("fc") == FC
    assert checkpoint.config() == {"vocab_size": 9}


def test_a_hub_cache_is_unsafe_to_write(hub):
    (reason,) = unsafe_reasons(hub / "model.safetensors")
    assert "blobs/0f1e" in reason
    assert "hub cache names blobs by their hash" in reason


def test_a_link_into_another_repositorys_blobs_is_refused(hub, tmp_path):
    other = write(tmp_path / "models--other" / "blobs" / "99", fc=FC)
    (hub / "extra.safetensors").symlink_to(other)
    with pytest.raises(EscapeError, match="outside that folder"):
        Checkpoint(str(hub)).headers()


def test_a_link_out_of_the_folder_is_refused_with_its_target(folder, tmp_path):
    outside = write(tmp_path / "secret.safetensors", fc=FC)
    (folder / "c.safetensors").symlink_to(outside)
    with pytest.raises(EscapeError, match=f"a link to {outside}"):
        Checkpoint(str(folder)).names()


def test_a_link_inside_the_folder_is_followed(folder):
    (folder / "b.safetensors").rename(folder / "blob")
    (folder / "b.safetensors").symlink_to("blob")
    assert Checkpoint(str(folder)).tensor("norm") == blank("F32", 4)


def test_a_git_lfs_pointer_is_called_one(tmp_path):
    (tmp_path / "model.safetensors").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 2382319104\n"
    )
    with pytest.raises(UnreadableError, match=r"Git-LFS pointer, not the file; run git lfs pull"):
        Checkpoint(str(tmp_path)).names()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((), "there is nothing"),
        (("pytorch_model.bin",), "pickled weights only"),
        (("readme.md", "config.json"), "there is config.json, readme.md"),
    ],
)
def test_a_folder_without_safetensors_says_what_it_holds(tmp_path, files, said):
    for name in files:
        (tmp_path / name).write_text("x")
    with pytest.raises(UnreadableError, match=said):
        Checkpoint(str(tmp_path)).names()


def test_a_path_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UnreadableError, match="no such file or folder"):
        Checkpoint(str(tmp_path / "nope")).names()


def test_a_broken_shard_is_named(folder):
    (folder / "b.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(MalformedError, match=r"b\.safetensors"):
        Checkpoint(str(folder)).names()


def test_a_folder_with_an_index_reads_the_same(folder):
    index = {"weight_map": {"fc": "a.safetensors", "d2t": "a.safetensors", "norm": "b.safetensors"}}
    (folder / INDEX).write_text(json.dumps(index))
    assert Checkpoint(str(folder)).names() == ("d2t", "fc", "norm")
    assert INDEX in Checkpoint(str(folder)).members()
