"""file-integrity: whole files, true indexes, and no file under two names."""

from __future__ import annotations

import hashlib
import os

import pytest
from probe_asking import GUESS, TRUTH, ask, assert_case, case_params, stale_reads, verdict, why

from hypotree.artifact.checkpoint import INDEX, Checkpoint
from hypotree.digest import Digest
from hypotree.errors import UnreadableError
from hypotree.model.verdict import Role, Verdict
from hypotree.probe.runner import BoundInput, ProbeRun, run_probe
from hypotree_probes.files.file_integrity import FileIntegrity
from hypotree_probes.files.file_integrity_cases import (
    FIRST,
    SECOND,
    cut_end,
    plant_shards,
    write_index,
)
from hypotree_probes.planting import blank, safetensors_bytes

TRUNCATED, BAD = "file.truncated", "file.bad-header"
MISSING, MISMATCH, ALIASED = "file.index-missing-shard", "file.index-mismatch", "file.aliased"


@pytest.mark.parametrize("case", case_params(FileIntegrity))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(FileIntegrity, case)


@pytest.fixture
def draft(tmp_path):
    plant_shards(tmp_path)
    return tmp_path / "draft"


def check(draft, **more):
    return ask(FileIntegrity, {"draft": str(draft), **more})


def test_whole_files_are_called_whole(draft):
    evidence = check(draft)
    assert {f.verdict for f in evidence.findings} == {Verdict.REFUTED, Verdict.NOT_RUN}
    assert evidence.summary == "2 files whole, headers and index in order."


def test_a_cut_shard_is_truncated_and_names_the_first_cut_tensor(draft):
    cut_end(draft / FIRST, 100)
    evidence = check(draft)
    found = evidence.finding(TRUNCATED)
    assert (found.verdict, found.authority, found.truth) == (Verdict.CONFIRMED, TRUTH, ())
    assert (found.locators[0].file, found.locators[0].tensor) == (FIRST, "fc.weight")
    assert verdict(evidence, BAD) is Verdict.REFUTED
    assert verdict(evidence, MISMATCH) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", TRUNCATED),
        (b"\x10\0\0", TRUNCATED),
        ((1 << 20).to_bytes(8, "little") + b"{}", TRUNCATED),
        ((1 << 40).to_bytes(8, "little") + b"{}", BAD),
        (b"<!DOCTYPE html><html>404</html>", BAD),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", BAD),
        ((20).to_bytes(8, "little") + b'{"a":1,"a":2}       ', BAD),
        ((30_000).to_bytes(8, "little") + b'{"a":' + b"[" * 29_995, BAD),
        (safetensors_bytes({"a": blank("F32", 4)}) + b"tail", BAD),
    ],
)
def test_a_broken_file_is_a_finding_and_its_evidence_can_be_checked(draft, data, fault):
    (draft / FIRST).write_bytes(data)
    evidence = check(draft)
    assert verdict(evidence, fault) is Verdict.CONFIRMED
    assert Verdict.INVALID not in {f.verdict for f in evidence.findings}
    assert stale_reads(evidence) == []


def test_a_git_lfs_pointer_is_called_by_its_name(draft):
    (draft / FIRST).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
    assert "Git-LFS pointer" in why(check(draft), BAD)


def test_a_mended_file_makes_the_evidence_of_its_fault_stale(draft):
    whole = (draft / FIRST).read_bytes()
    cut_end(draft / FIRST, 100)
    evidence = check(draft)
    (draft / FIRST).write_bytes(whole)
    assert stale_reads(evidence) == [f"draft: size {FIRST}"]


def test_touching_a_file_or_changing_a_value_leaves_the_evidence_fresh(draft):
    evidence = check(draft)
    data = bytearray((draft / FIRST).read_bytes())
    data[-1] ^= 1
    (draft / FIRST).write_bytes(data)
    os.utime(draft / SECOND, (0, 0))
    assert stale_reads(evidence) == []


def test_a_new_shard_makes_the_evidence_stale(draft):
    evidence = check(draft)
    (draft / "more.safetensors").write_bytes(safetensors_bytes({}))
    assert stale_reads(evidence) == ["draft: shard-names "]


def test_a_shard_that_becomes_a_link_to_another_makes_the_evidence_stale(draft):
    evidence = check(draft)
    (draft / SECOND).unlink()
    (draft / SECOND).hardlink_to(draft / FIRST)
    assert "draft: aliases " in stale_reads(evidence)


def test_the_digest_of_a_sound_header_is_that_of_its_own_bytes(draft):
    checkpoint = Checkpoint(str(draft))
    raw = checkpoint.headers()[FIRST].raw
    assert checkpoint.digest_of("header", FIRST) == Digest.of(raw)


# -- the index -------------------------------------------------------------------


def test_a_shard_that_the_index_names_and_nobody_has_is_missing(draft):
    write_index(draft, {"fc.weight": FIRST, "norm.weight": SECOND, "d2t": "third.safetensors"})
    evidence = check(draft)
    assert verdict(evidence, MISSING) is Verdict.CONFIRMED
    assert "third.safetensors" in why(evidence, MISSING)
    assert verdict(evidence, MISMATCH) is Verdict.REFUTED


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\0b", "x" * 5000, ""])
def test_an_index_cannot_lead_out_of_its_folder(draft, name):
    write_index(draft, {"fc.weight": FIRST, "norm.weight": SECOND, "d2t": name})
    evidence = check(draft)
    assert verdict(evidence, MISSING) is Verdict.CONFIRMED
    assert all("passwd" not in read.name for record in evidence.inputs for read in record.read)


def test_a_tensor_in_another_shard_than_the_index_says_is_a_mismatch(draft):
    write_index(draft, {"fc.weight": SECOND, "norm.weight": FIRST})
    assert verdict(check(draft), MISMATCH) is Verdict.CONFIRMED


def test_a_side_file_that_the_index_does_not_name_is_no_fault(draft):
    (draft / "mtp.safetensors").write_bytes(safetensors_bytes({"mtp": blank("F32", 2)}))
    assert {f.verdict for f in check(draft).findings} == {Verdict.REFUTED, Verdict.NOT_RUN}


@pytest.mark.parametrize("text", ["{", "[]", '{"weight_map": 1}', '{"weight_map": {"a": 1}}'])
def test_an_index_that_is_none_is_a_mismatch(draft, text):
    (draft / INDEX).write_text(text)
    evidence = check(draft)
    assert verdict(evidence, MISMATCH) is Verdict.CONFIRMED
    assert verdict(evidence, MISSING) is Verdict.NOT_EXERCISED


def test_an_index_nested_without_end_is_no_crash(draft):
    (draft / INDEX).write_text("[" * 10_000)
    assert verdict(check(draft), MISMATCH) in {Verdict.CONFIRMED, Verdict.NOT_EXERCISED}


def test_all_shards_gone_is_a_finding_while_the_index_remembers_them(draft):
    (draft / FIRST).unlink()
    (draft / SECOND).unlink()
    assert verdict(check(draft), MISSING) is Verdict.CONFIRMED


def test_a_folder_without_any_checkpoint_is_no_input(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(UnreadableError):
        check(tmp_path)


def test_a_single_file_is_judged_without_the_folder_around_it(draft):
    cut_end(draft / SECOND, 4)
    evidence = check(draft / FIRST)
    assert verdict(evidence, TRUNCATED) is Verdict.REFUTED
    assert verdict(evidence, MISMATCH) is Verdict.NOT_RUN


def test_numbered_shards_without_an_index_may_miss_one(draft):
    (draft / INDEX).unlink()
    (draft / SECOND).unlink()
    found = check(draft).finding(MISSING)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)
    assert SECOND in found.why


def test_a_consolidated_file_beside_the_shards_is_no_fault(draft):
    (draft / INDEX).unlink()
    both = {"fc.weight": blank("F32", 8, 24), "norm.weight": blank("F32", 8)}
    (draft / "consolidated.safetensors").write_bytes(safetensors_bytes(both))
    assert verdict(check(draft), MISMATCH) is Verdict.REFUTED


def test_a_copy_beside_an_index_is_a_side_file(draft):
    (draft / "backup.safetensors").write_bytes((draft / FIRST).read_bytes())
    assert verdict(check(draft), MISMATCH) is Verdict.REFUTED


@pytest.mark.parametrize("key", ["fc.weight", "weight_map", "metadata"])
def test_a_key_that_the_index_has_twice_is_a_mismatch(draft, key):
    text = (
        f'{{"metadata": {{}}, "weight_map": {{"fc.weight": "{FIRST}", "norm.weight": "{SECOND}"}}}}'
    )
    twice = {
        "fc.weight": text.replace('"norm', f'"fc.weight": "{SECOND}", "norm'),
        "weight_map": text[:-1] + ', "weight_map": {}}',
        "metadata": text[:-1] + ', "metadata": {}}',
    }
    (draft / INDEX).write_text(twice[key])
    assert verdict(check(draft), MISMATCH) is Verdict.CONFIRMED
    assert "stands there twice" in why(check(draft), MISMATCH)


# -- recorded digests --------------------------------------------------------------


def test_a_list_of_digests_is_held_against_the_files(draft):
    sums = hashlib.sha256((draft / FIRST).read_bytes()).hexdigest()
    (draft / "SHA256SUMS").write_text(f"{sums}  {FIRST}\n{'0' * 64} *{SECOND}\n")
    bound = (BoundInput("draft", "checkpoint", Role.SUBJECT, str(draft)),)
    evidence = run_probe(ProbeRun("file-integrity", bound, {"digests": 1}))
    assert verdict(evidence, "file.digest-mismatch") is Verdict.CONFIRMED
    assert [at.file for at in evidence.finding("file.digest-mismatch").locators] == [SECOND]
    assert stale_reads(evidence) == []


def test_without_a_record_there_is_nothing_to_compare(draft):
    bound = (BoundInput("draft", "checkpoint", Role.SUBJECT, str(draft)),)
    evidence = run_probe(ProbeRun("file-integrity", bound, {"digests": 1}))
    assert verdict(evidence, "file.digest-mismatch") is Verdict.NOT_RUN


# -- aliases ---------------------------------------------------------------------


def test_a_good_copy_that_is_a_hard_link_is_told(draft, tmp_path):
    (tmp_path / "good.safetensors").hardlink_to(draft / FIRST)
    evidence = check(draft, truth=str(tmp_path / "good.safetensors"))
    assert verdict(evidence, ALIASED) is Verdict.CONFIRMED
    assert stale_reads(evidence) == []
    places = {(place.input, place.file) for place in evidence.finding(ALIASED).locators}
    assert places == {("draft", FIRST), ("truth", "good.safetensors")}


def test_a_hard_link_outside_of_what_was_given_is_nobodys_business(draft, tmp_path):
    (tmp_path / "elsewhere.safetensors").hardlink_to(draft / FIRST)
    assert verdict(check(draft), ALIASED) is Verdict.REFUTED


def test_a_map_file_in_the_drafts_own_folder_is_no_alias_of_a_shard(draft):
    (draft / "d2t.pt").write_bytes(b"x")
    assert verdict(check(draft, truth=str(draft / "d2t.pt")), ALIASED) is Verdict.REFUTED


def test_a_shard_that_links_out_of_the_folder_is_not_followed(draft, tmp_path):
    outside = tmp_path / "outside.safetensors"
    outside.write_bytes((draft / FIRST).read_bytes())
    (draft / FIRST).unlink()
    (draft / FIRST).symlink_to(outside)
    evidence = check(draft)
    assert verdict(evidence, TRUNCATED) is Verdict.INCONCLUSIVE
    assert verdict(evidence, ALIASED) is Verdict.INCONCLUSIVE


def test_names_of_tensors_cannot_move_the_cursor(draft):
    (draft / FIRST).write_bytes(safetensors_bytes({"x\x1b[2J": blank("F32", 1)}))
    evidence = check(draft)
    assert verdict(evidence, MISMATCH) is Verdict.CONFIRMED
    assert "\x1b" not in why(evidence, MISMATCH)
