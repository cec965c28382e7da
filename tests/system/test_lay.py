"""The files that Ansible installs beside the release: packed here, compared and installed on the
box."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
FILES = ROOT / "ansible/roles/system/files"
UNIT, SCRIPT = "usr/lib/systemd/system/a.service", "usr/lib/interlude/start"
LAID = "usr/lib/interlude/laid"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "system"
    for name, text, mode in ((UNIT, "[Unit]\n", 0o600), (SCRIPT, "#!/bin/sh\n", 0o700)):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        path.chmod(mode)
    return folder


@pytest.fixture
def box(tmp_path: Path) -> Path:
    root = tmp_path / "box"
    root.mkdir()
    return root


def python(name: str, *words: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, FILES / name, *words], input=stdin, capture_output=True, check=False,
        timeout=60,
    )  # fmt: skip


def pack(source: Path, *parts: str) -> bytes:
    done = python("pack.py", source, *(parts or ("usr/lib",)))
    assert done.returncode == 0, done.stderr
    return done.stdout


def lay(packed: bytes, box: Path, *words: str) -> list[str]:
    done = python("lay.py", *words, box, stdin=packed)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().splitlines()


def test_every_file_is_installed_with_the_mode_that_git_keeps(source: Path, box: Path) -> None:
    assert lay(pack(source), box) == [SCRIPT, UNIT, LAID]
    assert (box / UNIT).read_text() == "[Unit]\n"
    modes = [stat.S_IMODE((box / name).stat().st_mode) for name in (UNIT, SCRIPT, "usr/lib")]
    assert modes == [0o644, 0o755, 0o755]


def test_a_second_run_changes_nothing(source: Path, box: Path) -> None:
    lay(pack(source), box)
    before = (box / UNIT).stat().st_mtime_ns
    assert lay(pack(source), box) == []
    assert (box / UNIT).stat().st_mtime_ns == before


@pytest.mark.parametrize("harm", ["words", "mode", "gone", "link"])
def test_only_a_changed_file_is_restored(source: Path, box: Path, harm: str) -> None:
    lay(pack(source), box)
    path = box / UNIT
    match harm:
        case "words":
            path.write_text("[Unit]\nwrong\n")
        case "mode":
            path.chmod(0o666)
        case "gone":
            path.unlink()
        case _:
            path.unlink()
            path.symlink_to("/dev/null")
    assert lay(pack(source), box) == [UNIT]
    assert path.read_text() == "[Unit]\n"
    assert not path.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_file_removed_from_the_source_is_removed_and_foreign_files_are_kept(
    source: Path, box: Path
) -> None:
    lay(pack(source), box)
    debians = box / "usr/lib/systemd/system/ssh.service"
    debians.write_text("Debian's")
    (source / UNIT).unlink()
    assert lay(pack(source), box) == [UNIT, LAID]
    assert not (box / UNIT).exists()
    assert debians.read_text() == "Debian's"
    assert lay(pack(source), box) == []


def test_check_mode_lists_the_changes_and_makes_none(source: Path, box: Path) -> None:
    assert lay(pack(source), box, "--check") == [SCRIPT, UNIT, LAID]
    assert list(box.iterdir()) == []
    lay(pack(source), box)
    (source / UNIT).unlink()
    assert lay(pack(source), box, "--check") == [UNIT, LAID]
    assert (box / UNIT).exists()


def test_bytecode_beside_a_program_is_not_packed(source: Path) -> None:
    first = pack(source)
    compiled = source / "usr/lib/interlude/__pycache__/fallback.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"bytecode")
    assert pack(source) == first


def test_packing_is_reproducible(source: Path) -> None:
    first = pack(source)
    os.utime(source / UNIT, (1, 1))
    (source / UNIT).chmod(0o664)
    assert pack(source) == first


def test_a_missing_folder_is_an_error(source: Path) -> None:
    assert python("pack.py", source, "usr/lib").returncode == 0
    assert b"There is no folder" in python("pack.py", source, "usr/lob").stderr


def test_a_truncated_archive_changes_nothing(source: Path, box: Path) -> None:
    packed = pack(source)
    assert python("lay.py", box, stdin=packed[: len(packed) // 8 * 4]).returncode != 0
    assert list(box.iterdir()) == []
    assert lay(packed, box) != []
