import json
import os

import pytest
from write_kit import (
    as_the_library_reads,
    bf16,
    ids,
    names_in,
    prepared,
    session_to_insert,
    session_to_replace,
    sha256_of,
    undone,
    write_safetensors,
)

from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.errors import MalformedError, MisuseError, RefusedError, UnknownNameError
from hypotree.fix.recheck import SwapRefusedError
from hypotree.model.edit import MinusArange, RenameTensors, ReplaceTensor
from hypotree.session import Session
from hypotree.session.fixing import Applied

TO_OFFSETS = ReplaceTensor("d2t", MinusArange("d2t"))


@pytest.fixture
def target(tmp_path):
    return write_safetensors(
        tmp_path / "draft" / "model.safetensors",
        {"fc": bf16(64, 8), "d2t": ids(0, 4, 5, 12), "norm": bf16(9)},
    )


def overwrite(path, tensor, data):
    """Change a tensor in place, as another program would."""
    with path.open("r+b") as file:
        file.seek(Checkpoint(str(path)).layout(tensor).begin)
        file.write(data)


def test_an_undo_brings_back_every_byte_and_its_undo_the_fix(target, tmp_path):
    old = sha256_of(target)
    fixed_by = prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    new = sha256_of(target)
    undo = undone(fixed_by, tmp_path / "undo")
    assert sha256_of(target) == old
    redo = undone(undo, tmp_path / "undo")
    assert sha256_of(target) == new
    undone(redo, tmp_path / "undo")
    assert sha256_of(target) == old


def test_a_pack_holds_the_replaced_bytes_and_little_else(target, tmp_path):
    prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    (pack,) = (tmp_path / "undo").iterdir()
    assert pack.stat().st_size < 200
    assert pack.stat().st_mode & 0o777 == 0o600


def test_a_fix_that_was_written_over_since_is_a_conflict_that_shows_both_digests(target, tmp_path):
    (record,) = prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    overwrite(target, "d2t", b"\x09")
    now = Checkpoint(str(target)).digest_of("tensor", "d2t")
    before = sha256_of(target)
    with pytest.raises(RefusedError) as caught:
        undone((record,), tmp_path / "undo")
    assert f"tensor d2t is {now.short}…, was left as {record.after[1].sha256.short}…" in str(
        caught.value
    )
    assert sha256_of(target) == before


def test_a_header_that_was_changed_since_is_a_conflict(target, tmp_path):
    (record,) = prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    prepared(target, tmp_path / "undo", RenameTensors({"norm": "n"})).write()
    with pytest.raises(RefusedError, match=r"header model.safetensors is .* undo what came later"):
        undone((record,), tmp_path / "undo")


def test_a_change_of_another_tensor_by_somebody_else_is_kept_by_the_undo(target, tmp_path):
    fixed_by = prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    overwrite(target, "fc", b"\x11\x22")
    undone(fixed_by, tmp_path / "undo")
    found = as_the_library_reads(target)
    assert found["fc"].data == b"\x11\x22" + bf16(64, 8).data[2:]
    assert found["d2t"] == ids(0, 4, 5, 12)


def test_an_undo_refuses_a_target_that_got_a_second_name_since(target, tmp_path):
    fixed_by = prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    os.link(target, tmp_path / "served-elsewhere")
    with pytest.raises(SwapRefusedError, match=r"UNSAFE_TARGET.*2 hard links"):
        undone(fixed_by, tmp_path / "undo")


def test_a_pack_that_was_changed_is_refused(target, tmp_path):
    (record,) = prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    pack = tmp_path / "undo" / record.pack.hex
    data = bytearray(pack.read_bytes())
    data[-1] ^= 1
    pack.write_bytes(data)
    before = sha256_of(target)
    with pytest.raises(MalformedError, match="was changed"):
        undone((record,), tmp_path / "undo")
    assert sha256_of(target) == before


def test_a_pack_that_is_gone_is_named(target, tmp_path):
    (record,) = prepared(target, tmp_path / "undo", TO_OFFSETS).write()
    (tmp_path / "undo" / record.pack.hex).unlink()
    with pytest.raises(UnknownNameError, match=f"{record.pack.hex} is gone"):
        undone((record,), tmp_path / "undo")


# -- through a session --------------------------------------------------------------


@pytest.fixture(params=[session_to_replace, session_to_insert])
def fixed(request, tmp_path):
    """A session whose fix was applied, its files and their bytes before."""
    folder = request.param(tmp_path / "s")
    files = sorted((folder / "draft").iterdir())
    before = sha256_of(*files)
    session = Session(folder)
    session.run("H1")
    applied = session.apply("H1")
    assert isinstance(applied, Applied), applied
    assert applied.not_measured == ""
    assert sha256_of(*files) != before
    return session, applied.id, files, before


def test_undo_redo_undo_moves_between_exactly_two_states(fixed):
    session, _, files, old = fixed
    new = sha256_of(*files)
    session.undo()
    assert sha256_of(*files) == old
    (undo,) = [w for w in session.snapshot().writes if w.is_undo]
    redo = session.undo(undo.id)
    assert sha256_of(*files) == new
    assert [w.id for w in session.snapshot().writes if w.is_undo and not w.undone_by] == []
    assert session.undo() != redo
    assert sha256_of(*files) == old
    with pytest.raises(MisuseError, match="no fix is in force"):
        session.undo()
    assert session.verify().state == "whole"


def test_a_swap_is_undone_once(fixed):
    session, swap_id, _, _ = fixed
    undo = session.undo(swap_id)
    with pytest.raises(RefusedError, match=f"was undone by {undo} already"):
        session.undo(swap_id)


def test_an_undo_of_a_swap_that_never_was_lists_those_that_were(fixed):
    session, swap_id, _, _ = fixed
    with pytest.raises(UnknownNameError, match=f"no such swap; there are {swap_id}"):
        session.undo("S999")


def test_an_undo_that_fails_leaves_the_fix_in_force(fixed):
    session, swap_id, files, _ = fixed
    new = sha256_of(*files)
    for pack in (session.folder / "undo").iterdir():
        pack.write_bytes(b"")
    with pytest.raises(MalformedError):
        session.undo()
    assert sha256_of(*files) == new
    assert [w.id for w in session.snapshot().writes if not w.undone_by] == [swap_id]
    assert Session(session.folder).recovered == ()


def test_the_standing_follows_the_file_through_undo_and_redo(fixed):
    session, _, _, _ = fixed
    standings = [session.snapshot().nodes[0].standing]
    undo = session.undo()
    standings.append(session.snapshot().nodes[0].standing)
    session.undo(undo)
    standings.append(session.snapshot().nodes[0].standing)
    assert standings[0] == standings[2] == "fixed, symptom not re-measured"
    assert standings[1] != standings[0]


def test_an_index_changed_since_is_a_conflict_and_no_shard_is_put_back(tmp_path):
    folder = session_to_insert(tmp_path / "s")
    session = Session(folder)
    session.run("H1")
    assert isinstance(session.apply("H1"), Applied)
    index = folder / "draft" / INDEX
    index.write_text(json.dumps(json.loads(index.read_text()) | {"note": "mine"}))
    files = sorted((folder / "draft").iterdir())
    before = sha256_of(*files)
    with pytest.raises(RefusedError, match=r"index.json is .*, was left as"):
        session.undo()
    assert sha256_of(*files) == before
    assert names_in(folder / "draft") == [f.name for f in files]
