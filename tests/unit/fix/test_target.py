import os
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest
from write_kit import bf16, names_in, session_to_replace, sha256_of, write_safetensors

from hypotree.fix.target import space_reasons, unsafe_reasons
from hypotree.model.refusal import RefusalCode
from hypotree.session import Session

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def target(tmp_path):
    return write_safetensors(tmp_path / "draft" / "model.safetensors", {"a": bf16(2)})


def run_bound_by_permissions(code, path):
    """Run Python as a user to whom permissions mean something: root without its privileges is one."""
    command = [sys.executable, "-c", code, path]
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("root cannot lay down its privileges here")
        command = [setpriv, "--bounding-set=-dac_override,-dac_read_search", *command]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_plain_file_of_ones_own_is_safe(target):
    assert unsafe_reasons(target) == ()


def test_a_symbolic_link_is_unsafe_and_the_message_says_to_what(target, tmp_path):
    link = tmp_path / "link.safetensors"
    link.symlink_to(target)
    (reason,) = unsafe_reasons(link)
    assert f"symbolic link to {target}" in reason


def test_a_file_with_two_names_is_unsafe(target, tmp_path):
    os.link(target, tmp_path / "other")
    (reason,) = unsafe_reasons(target)
    assert "2 hard links" in reason


def test_what_is_no_regular_file_is_unsafe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert unsafe_reasons(tmp_path / "pipe") == (f"{tmp_path / 'pipe'} is no regular file",)


@needs_root
def test_a_file_of_another_user_is_unsafe(target):
    os.chown(target, NOBODY, -1)
    (reason,) = unsafe_reasons(target)
    assert f"belongs to user {NOBODY}" in reason


def test_a_folder_that_cannot_be_written_is_unsafe(target):
    code = (
        "import sys; from pathlib import Path; from hypotree.fix.target import unsafe_reasons\n"
        "print(*unsafe_reasons(Path(sys.argv[1])))"
    )
    target.parent.chmod(0o555)
    assert f"folder {target.parent} cannot be written" in run_bound_by_permissions(code, target)
    target.parent.chmod(0o755)
    assert run_bound_by_permissions(code, target) == "\n"


def test_every_reason_is_named_at_once(target, tmp_path):
    os.link(target, tmp_path / "other")
    link = tmp_path / "link"
    link.symlink_to(target)
    assert len(unsafe_reasons(link)) == 2


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_room_is_asked_for_all_files_of_a_folder_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, 5 << 20))
    one, two, elsewhere = tmp_path / "a", tmp_path / "b", tmp_path / "c" / "d"
    assert space_reasons([(one, 3 << 20)]) == ()
    assert space_reasons([(one, 3 << 20), (elsewhere, 3 << 20)]) == ()
    (reason,) = space_reasons([(one, 3 << 20), (two, 3 << 20)])
    assert "free, the swap needs" in reason


def spoil_by_link(target, folder):
    target.rename(folder / "blob")
    target.symlink_to(folder / "blob")


def spoil_by_hard_link(target, folder):
    os.link(target, folder / "blob")


def spoil_by_owner(target, _):
    os.chown(target, NOBODY, -1)


@needs_root
@pytest.mark.parametrize("spoil", [spoil_by_link, spoil_by_hard_link, spoil_by_owner])
def test_the_gate_refuses_an_unsafe_target_before_anything_is_written(tmp_path, spoil):
    folder = session_to_replace(tmp_path / "s")
    draft = folder / "draft"
    # A link may lead anywhere inside the checkpoint's own folder.
    spoil(draft / "model.safetensors", draft)
    session = Session(folder)
    session.run("H1")
    before, names = sha256_of(draft / "model.safetensors"), names_in(draft)
    refusal = session.apply("H1")
    assert refusal.code is RefusalCode.UNSAFE_TARGET
    assert (sha256_of(draft / "model.safetensors"), names_in(draft)) == (before, names)
    assert not (folder / "undo").exists()


def test_the_gate_refuses_a_full_disk_before_anything_is_written(tmp_path, monkeypatch):
    folder = session_to_replace(tmp_path / "s")
    session = Session(folder)
    session.run("H1")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, 1000))
    refusal = session.apply("H1")
    assert refusal.code is RefusalCode.UNSAFE_TARGET
    assert "1000 bytes free" in refusal.found
    assert not (folder / "undo").exists()


def test_a_fix_in_a_read_only_folder_is_refused_before_anything_is_written(tmp_path):
    folder = session_to_replace(tmp_path / "s")
    (folder / "draft").chmod(0o555)
    code = (
        "import sys; from pathlib import Path; from hypotree.session import Session\n"
        "s = Session(Path(sys.argv[1])); s.run('H1'); r = s.apply('H1'); print(r.code, r.found)"
    )
    said = run_bound_by_permissions(code, folder)
    assert said.startswith("UNSAFE_TARGET")
    assert "cannot be written" in said
    assert not (folder / "undo").exists()
