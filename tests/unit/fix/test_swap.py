import errno
import os
import stat
from pathlib import Path

import pytest
from write_kit import (
    as_the_library_reads,
    bf16,
    ids,
    names_in,
    prepared,
    sha256_of,
    undone,
    write_safetensors,
    write_shards,
)

from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.errors import ToolError
from hypotree.fix import sibling
from hypotree.fix.lock import BusyError, locked
from hypotree.fix.recheck import SwapRefusedError
from hypotree.fix.swap import swap
from hypotree.model.edit import MinusArange, RenameTensors, ReplaceTensor
from hypotree.model.refusal import RefusalCode

TO_OFFSETS = ReplaceTensor("d2t", MinusArange("d2t"))


@pytest.fixture
def target(tmp_path):
    return write_safetensors(
        tmp_path / "draft" / "model.safetensors",
        {"fc": bf16(64, 8), "d2t": ids(0, 4, 5, 12), "norm": bf16(9), "t": bf16(100, 3)},
        {"format": "pt"},
    )


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o440])
def test_mode_and_group_stay(target, tmp_path, mode):
    target.chmod(mode)
    if os.geteuid() == 0:
        os.chown(target, -1, 12345)
    before = target.stat()
    prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    after = target.stat()
    assert stat.S_IMODE(after.st_mode) == mode
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


def test_extended_attributes_stay(target, tmp_path):
    try:
        os.setxattr(target, "user.origin", b"run 7")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    assert os.getxattr(target, "user.origin") == b"run 7"


def test_every_other_tensor_and_the_header_are_bit_identical(target, tmp_path):
    before, whole = as_the_library_reads(target), target.read_bytes()
    prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    assert as_the_library_reads(target) == before | {"d2t": ids(0, 3, 3, 9)}
    where = Checkpoint(str(target)).headers()["model.safetensors"].tensors["d2t"]
    new = target.read_bytes()
    assert new[: where.begin] + new[where.end :] == whole[: where.begin] + whole[where.end :]
    assert names_in(target.parent) == ["model.safetensors"]


def test_the_record_says_what_little_was_written(target, tmp_path):
    (record,) = prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    assert record.bytes_written == 32


def refused(ready, code, *, recheck=tuple):
    before = sha256_of(*(r.path for r in ready.replacements))
    names = [names_in(r.path.parent) for r in ready.replacements]
    with pytest.raises(SwapRefusedError, match=code) as caught:
        ready.write(recheck)
    assert caught.value.refusal == code
    assert sha256_of(*(r.path for r in ready.replacements)) == before
    assert [names_in(r.path.parent) for r in ready.replacements] == names


def test_a_touched_tensor_that_changed_since_the_plan_is_refused(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    where = Checkpoint(str(target)).layout("d2t")
    with target.open("r+b") as file:
        file.seek(where.begin)
        file.write(b"\x07")
    refused(ready, RefusalCode.STALE_ARTIFACT)


def test_a_file_replaced_since_the_plan_is_refused_though_its_bytes_are_the_same(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    copy = target.with_name("copy")
    copy.write_bytes(target.read_bytes())
    copy.rename(target)
    refused(ready, RefusalCode.STALE_ARTIFACT)


@pytest.mark.parametrize("change", [1, -1], ids=["longer", "shorter"])
def test_a_file_of_another_length_since_the_plan_is_refused(target, tmp_path, change):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    os.truncate(target, target.stat().st_size + change)
    refused(ready, RefusalCode.STALE_ARTIFACT)


def test_a_file_that_is_gone_is_refused(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    target.unlink()
    with pytest.raises(SwapRefusedError, match=r"STALE_ARTIFACT.*No such file"):
        ready.write()
    assert names_in(target.parent) == []


def test_what_the_caller_finds_changed_is_refused(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    refused(ready, RefusalCode.STALE_ARTIFACT, recheck=lambda: ("map: d2t",))


def test_a_hard_link_made_since_the_plan_is_refused(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    os.link(target, tmp_path / "other")
    refused(ready, RefusalCode.UNSAFE_TARGET)


def test_a_symbolic_link_put_in_its_place_since_the_plan_is_refused(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    target.rename(tmp_path / "blob")
    target.symlink_to(tmp_path / "blob")
    refused(ready, RefusalCode.STALE_ARTIFACT)


def test_another_tensor_that_changed_since_the_plan_keeps_its_change(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    where = Checkpoint(str(target)).layout("fc")
    with target.open("r+b") as file:
        file.seek(where.begin)
        file.write(b"\x07\x07")
    ready.write()
    assert as_the_library_reads(target)["fc"].data[:2] == b"\x07\x07"
    assert as_the_library_reads(target)["d2t"] == ids(0, 3, 3, 9)


def test_another_tensor_that_changes_after_the_copy_was_compared_is_not_lost(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    where = Checkpoint(str(target)).layout("fc")

    def change():
        with target.open("r+b") as file:
            file.seek(where.begin)
            file.write(b"\x07\x07")
        os.utime(target, ns=(1, 1))
        return ()

    with pytest.raises(SwapRefusedError, match=r"STALE_ARTIFACT.*near byte 0"):
        ready.write(change)
    assert as_the_library_reads(target)["fc"].data[:2] == b"\x07\x07"
    assert as_the_library_reads(target)["d2t"] == ids(0, 4, 5, 12)


def test_a_touch_during_the_copy_is_no_change(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    ready.write(lambda: os.utime(target, ns=(1, 1)) or ())
    assert as_the_library_reads(target)["d2t"] == ids(0, 3, 3, 9)


def test_other_files_than_the_permits_are_refused(target, tmp_path):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    other = write_safetensors(tmp_path / "other" / "m.safetensors", {"d2t": ids(0, 4)})
    foreign = prepared(other, tmp_path / "undo", TO_OFFSETS)
    with pytest.raises(ToolError, match="not the ones that the permit names"):
        swap(foreign.replacements, ready.permit, tuple, "test")
    assert as_the_library_reads(other)["d2t"] == ids(0, 4)


def test_a_bad_copy_is_found_before_the_old_file_goes(target, tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(len(data))))
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    before = sha256_of(target)
    with pytest.raises(ToolError, match=r"verifying .*near byte"):
        ready.write()
    assert (sha256_of(target), names_in(target.parent)) == (before, ["model.safetensors"])


def test_a_file_that_reads_back_differently_is_put_back(target, tmp_path, monkeypatch):
    ready = prepared(target, tmp_path / "undo", TO_OFFSETS)
    before, real = sha256_of(target), os.replace

    def spoil(source, destination):
        real(source, destination)
        if not spoilt:
            spoilt.append(True)
            with target.open("r+b") as file:
                file.seek(Checkpoint(str(target)).layout("d2t").begin)
                file.write(b"\x55")

    spoilt = []
    monkeypatch.setattr(os, "replace", spoil)
    with pytest.raises(ToolError, match="read back differently: tensor d2t"):
        ready.write()
    assert (sha256_of(target), names_in(target.parent)) == (before, ["model.safetensors"])


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL])
def test_a_file_system_that_cannot_copy_in_the_kernel_is_copied_by_hand(
    target, tmp_path, monkeypatch, code
):
    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "copy_file_range", refuse)
    prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    assert as_the_library_reads(target)["d2t"] == ids(0, 3, 3, 9)


def test_short_copies_and_short_writes_are_continued(target, tmp_path, monkeypatch):
    copy, write = os.copy_file_range, os.write
    monkeypatch.setattr(os, "copy_file_range", lambda s, d, n, o: copy(s, d, min(n, 7), o))
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:3]))
    prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    assert as_the_library_reads(target)["d2t"] == ids(0, 3, 3, 9)


def test_a_name_as_long_as_names_can_be_is_swapped_and_hostile_ones_leave_nothing(tmp_path):
    for name in ("n" * 243 + ".safetensors", "model[1]*?.safetensors", "-ü x.safetensors"):
        path = write_safetensors(tmp_path / "d" / name, {"d2t": ids(0, 4)})
        prepared(path, tmp_path / "undo", TO_OFFSETS).write()
        assert as_the_library_reads(path)["d2t"] == ids(0, 3)
        left = sibling.write_beside(
            path, prepared(path, tmp_path / "undo", TO_OFFSETS).replacements[0].staged, "test"
        )
        assert sibling.leftovers(path, "test") == [left]
        left.unlink()


@pytest.fixture
def shards(tmp_path):
    return write_shards(
        tmp_path / "draft",
        {"a.safetensors": {"x": bf16(20), "y": bf16(3)}, "b.safetensors": {"z": bf16(9)}},
    )


BOTH = RenameTensors({"x": "x2", "z": "z2"})
FILES = ("a.safetensors", "b.safetensors", INDEX)


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_if_one_of_several_files_cannot_be_replaced_all_are_the_old_ones(
    shards, tmp_path, monkeypatch, nth
):
    ready = prepared(shards, tmp_path / "undo", BOTH)
    paths = [shards / name for name in FILES]
    before, real, calls = sha256_of(*paths), os.replace, []

    def fail(source, destination):
        calls.append(destination)
        if len(calls) == nth:
            raise OSError(errno.EIO, "Input/output error")
        real(source, destination)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ToolError, match="Input/output error"):
        ready.write()
    assert sha256_of(*paths) == before
    assert names_in(shards) == sorted(FILES)


def test_a_full_disk_is_met_before_the_first_file_is_replaced(shards, tmp_path, monkeypatch):
    ready = prepared(shards, tmp_path / "undo", BOTH)
    paths = [shards / name for name in FILES]
    before, real, calls, replaced = sha256_of(*paths), os.fsync, [], []

    def fail(fd):
        calls.append(fd)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(fd)

    monkeypatch.setattr(os, "fsync", fail)
    monkeypatch.setattr(os, "replace", lambda *names: replaced.append(names))
    with pytest.raises(ToolError, match="No space left"):
        ready.write()
    assert replaced == []
    assert (sha256_of(*paths), names_in(shards)) == (before, sorted(FILES))


def test_if_the_old_files_cannot_be_put_back_that_is_said(shards, tmp_path, monkeypatch):
    ready = prepared(shards, tmp_path / "undo", BOTH)
    real, calls = os.replace, []

    def fail(source, destination):
        calls.append(destination)
        if len(calls) > 1:
            raise OSError(errno.EIO, "Input/output error")
        real(source, destination)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ToolError, match=r"a\.safetensors is still the new file"):
        ready.write()
    assert names_in(shards) == sorted(FILES)


def test_several_files_go_and_come_back_together(shards, tmp_path):
    paths = [shards / name for name in FILES]
    before = sha256_of(*paths)
    records = prepared(shards, tmp_path / "undo", BOTH).write()
    assert all(a != b for a, b in zip(sha256_of(*paths), before, strict=True))
    undone(records, tmp_path / "undo")
    assert sha256_of(*paths) == before


def test_the_pack_is_on_disk_before_the_sibling_and_the_sibling_before_the_replace(
    target, tmp_path, monkeypatch
):
    order = []
    for name in ("fsync", "replace", "copy_file_range"):
        real = getattr(os, name)

        def noted(*args, name=name, real=real):
            where = (
                str(Path(f"/proc/self/fd/{args[0]}").readlink())
                if name == "fsync"
                else str(args[1])
            )
            kind = "pack" if "/undo" in where else "folder" if where.endswith("draft") else "file"
            order.append(f"{name} {kind}")
            return real(*args)

        monkeypatch.setattr(os, name, noted)
    prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    wanted = ["fsync pack", "replace pack", "fsync pack", "copy_file_range file", "fsync file",
              "replace file", "fsync folder"]  # fmt: skip
    seen = [step for i, step in enumerate(order) if i == 0 or order[i - 1] != step]
    assert [step for step in seen if step in wanted][-len(wanted) :] == wanted


def test_a_file_that_is_held_elsewhere_is_busy(target):
    with (
        locked([target]),
        pytest.raises(BusyError, match="another hypotree process"),
        locked([target], seconds=0),
    ):
        pytest.fail("both held it")


def test_a_lock_folder_of_another_user_is_not_used(target, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"hypotree-locks-{os.getuid()}").symlink_to(tmp_path / "draft")
    with pytest.raises(ToolError, match="another user's, or no folder"), locked([target]):
        pytest.fail("it was used")
