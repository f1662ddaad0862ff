import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from hypotree.artifact.vocabulary_map import VocabularyMap
from hypotree.errors import UnreadableError

D2T = torch.tensor([0, 0, 3, 6], dtype=torch.int64)
T2D = torch.zeros(12, dtype=torch.bool)
T2D[torch.arange(4) + D2T] = True
LEGACY = {"_use_new_zipfile_serialization": False}


def write(folder, form):
    """A map in one of the forms that people have; returns what to give and whether t2d is in it."""
    writers = {
        "bare .pt": lambda: (torch.save(D2T, folder / "d2t.pt"), "d2t.pt", False),
        "bare legacy .pt": lambda: (torch.save(D2T, folder / "d2t.pt", **LEGACY), "d2t.pt", False),
        "dict .pt": lambda: (torch.save({"d2t": D2T, "t2d": T2D}, folder / "m.pt"), "m.pt", True),
        "dict legacy": lambda: (
            torch.save({"d2t": D2T, "t2d": T2D}, folder / "m.pt", **LEGACY), "m.pt", True),
        "cache.pt": lambda: (
            torch.save({"d2t": D2T, "t2d": T2D}, folder / "cache.pt"), "", True),
        "vocab_mapping.pt folder": lambda: (
            torch.save({"d2t": D2T, "t2d": T2D}, folder / "vocab_mapping.pt"), "", True),
        "d2t.npy": lambda: (np.save(folder / "d2t.npy", D2T.numpy()), "d2t.npy", False),
        "d2t.npy beside t2d.npy": lambda: (
            (np.save(folder / "d2t.npy", D2T.numpy()), np.save(folder / "t2d.npy", T2D.numpy())),
            "d2t.npy", True),
        "folder of both .npy": lambda: (
            (np.save(folder / "d2t.npy", D2T.numpy()), np.save(folder / "t2d.npy", T2D.numpy())),
            "", True),
        "d2t-32.npy": lambda: (np.save(folder / "d2t-32.npy", D2T.numpy()), "", False),
        "safetensors": lambda: (
            save_file({"d2t": D2T, "t2d": T2D}, folder / "map.safetensors"), "map.safetensors", True),
        "checkpoint folder": lambda: (
            (save_file({"d2t": D2T, "w": torch.ones(2)}, folder / "model.safetensors"),
             (folder / "config.json").write_text("{}")), "", False),
    }  # fmt: skip
    _, given, has_t2d = writers[form]()
    return folder / given, has_t2d


FORMS = (
    "bare .pt", "bare legacy .pt", "dict .pt", "dict legacy", "cache.pt", "vocab_mapping.pt folder",
    "d2t.npy", "d2t.npy beside t2d.npy", "folder of both .npy", "d2t-32.npy", "safetensors",
    "checkpoint folder",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_map(tmp_path, form):
    path, has_t2d = write(tmp_path, form)
    found = VocabularyMap(str(path)).stored()
    assert found.d2t.integers() == D2T.tolist()
    if has_t2d:
        assert [i for i, v in enumerate(found.t2d.integers()) if v] == [0, 1, 5, 9]
    else:
        assert found.t2d is None


@pytest.mark.parametrize("form", FORMS)
def test_what_was_read_can_be_asked_again_and_one_changed_byte_shows(tmp_path, form):
    path, _ = write(tmp_path, form)
    reader = VocabularyMap(str(path))
    reader.stored()
    assert reader.reads
    for read in reader.reads:
        assert VocabularyMap(str(path)).digest_of(read.kind, read.name) == read.sha256
    content = VocabularyMap(str(path)).content_digest()
    file = tmp_path / reader.stored().file
    data = file.read_bytes()
    at = data.rindex(b"\x06")
    file.write_bytes(data[:at] + b"\x07" + data[at + 1 :])
    again = VocabularyMap(str(path))
    assert any(again.digest_of(r.kind, r.name) != r.sha256 for r in reader.reads)
    assert again.content_digest() != content


@pytest.mark.parametrize("form", ["bare .pt", "t2d.npy"])
def test_a_bare_tensor_of_truth_values_is_a_t2d(tmp_path, form):
    if form == "t2d.npy":
        np.save(tmp_path / "t2d.npy", T2D.numpy())
        path = tmp_path / "t2d.npy"
    else:
        path = tmp_path / "x.pt"
        torch.save(T2D, path)
    found = VocabularyMap(str(path)).stored()
    assert found.d2t is None
    assert sum(found.t2d.integers()) == 4


def test_a_changed_t2d_beside_a_map_changes_its_content(tmp_path):
    path, _ = write(tmp_path, "d2t.npy beside t2d.npy")
    before = VocabularyMap(str(path)).content_digest()
    np.save(tmp_path / "t2d.npy", ~T2D.numpy())
    assert VocabularyMap(str(path)).content_digest() != before


@pytest.mark.parametrize(
    ("value", "said"),
    [({"x": D2T}, "neither d2t nor t2d"), ([1, 2], "neither"), ({}, "neither d2t nor t2d")],
)
def test_a_file_without_a_map_is_said(tmp_path, value, said):
    torch.save(value, tmp_path / "m.pt")
    with pytest.raises(UnreadableError, match=said):
        VocabularyMap(str(tmp_path / "m.pt")).stored()


def test_a_safetensors_without_a_map_is_said(tmp_path):
    save_file({"w": torch.ones(2)}, tmp_path / "m.safetensors")
    with pytest.raises(UnreadableError, match="neither d2t nor t2d"):
        VocabularyMap(str(tmp_path / "m.safetensors")).stored()


def test_another_suffix_is_said(tmp_path):
    (tmp_path / "map.txt").write_text("1 2 3")
    with pytest.raises(UnreadableError, match=r"map\.txt is none of"):
        VocabularyMap(str(tmp_path / "map.txt")).stored()


def test_a_folder_without_a_map_says_what_it_looked_for(tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")
    with pytest.raises(UnreadableError, match=r"no d2t\.pt, vocab_mapping\.pt"):
        VocabularyMap(str(tmp_path)).stored()
