import os

import pytest

from hypotree.artifact import files
from hypotree.artifact.files import DiskFile, DiskTree
from hypotree.errors import EscapeError, UnreadableError


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "a").write_bytes(b"0123456789")
    (folder / "sub" / "b").write_bytes(b"b")
    (folder / "sub" / "deep" / "c").write_bytes(b"c")
    return folder


def test_names_are_relative_and_sorted_and_hidden_folders_stay_out(root):
    (root / ".git").mkdir()
    (root / ".git" / "x").write_bytes(b"x")
    assert DiskTree(root).names() == ("a", "sub/b", "sub/deep/c")


def test_folders_below_the_third_are_not_walked(root):
    (root / "sub" / "deep" / "er").mkdir()
    (root / "sub" / "deep" / "er" / "d").write_bytes(b"d")
    assert "sub/deep/er/d" not in DiskTree(root).names()


def test_a_folder_of_too_many_files_is_refused(root, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILES", 2)
    with pytest.raises(UnreadableError, match="more than 2 files"):
        DiskTree(root).names()


@pytest.mark.parametrize("name", ["/etc/passwd", "../a", "sub/../../a", "", "a\0b", "sub/../a"])
def test_a_name_that_leads_out_is_refused(root, name):
    for ask in (DiskTree(root).open, DiskTree(root).has, DiskTree(root).identity):
        with pytest.raises(EscapeError, match="leads out of that folder"):
            ask(name)


def test_a_linked_folder_that_leads_out_is_neither_listed_nor_opened(root, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").write_bytes(b"x")
    (root / "link").symlink_to(tmp_path / "out")
    assert DiskTree(root).names() == ("a", "sub/b", "sub/deep/c")
    with pytest.raises(EscapeError):
        DiskTree(root).open("link/x")


def test_a_root_that_is_itself_a_link_is_read(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    assert DiskTree(tmp_path / "link").open("sub/b").read(0, 1) == b"b"


def test_a_dangling_link_is_not_there(root):
    (root / "gone").symlink_to("nowhere")
    assert "gone" not in DiskTree(root).names()
    assert not DiskTree(root).has("gone")


def test_two_names_of_one_file_have_one_identity(root):
    os.link(root / "a", root / "z")
    (root / "l").symlink_to("a")
    tree = DiskTree(root)
    found = {(tree.identity(n).device, tree.identity(n).inode) for n in ("a", "z", "l")}
    assert len(found) == 1
    assert tree.identity("a").size == 10


def test_a_single_file_is_a_tree_of_one_name(root):
    tree = DiskTree(root / "a")
    assert (tree.names(), tree.root, tree.single) == (("a",), root, "a")


def test_reads_are_exact_and_never_short(root):
    file = DiskFile(root / "a")
    assert (file.size, file.read(3, 4), file.read(10, 0)) == (10, b"3456", b"")
    with pytest.raises(UnreadableError, match="the file ends after 10 bytes"):
        file.read(8, 3)


def test_a_file_cut_short_while_it_is_read_is_an_error_and_no_signal(root):
    file = DiskFile(root / "a")
    os.truncate(root / "a", 4)
    with pytest.raises(UnreadableError, match="ends after 4 bytes"):
        file.read(0, 10)


@pytest.mark.parametrize("kind", ["folder", "pipe", "nothing"])
def test_what_is_no_regular_file_is_refused_and_does_not_hang(root, kind):
    os.mkfifo(root / "pipe")
    where = {"folder": root, "pipe": root / "pipe", "nothing": root / "nope"}[kind]
    with pytest.raises(UnreadableError, match=r"not a regular file|No such file"):
        DiskFile(where)
