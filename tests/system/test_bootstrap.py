"""The first release of a box without one: checked with tools of the system, then started to install
itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from appliance.update.archive_parts import sign_archive
from tests.update.release.workshop import Bench, bench

pytestmark = pytest.mark.process

SCRIPT = Path(__file__).parents[2] / "system/usr/lib/interlude/bootstrap"


@pytest.fixture
def at(tmp_path: Path) -> Bench:
    (tmp_path / "opt").mkdir()
    return bench(tmp_path)


def first(at: Bench, file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    places = {
        "INTERLUDE_ROOT": str(at.store.root),
        "INTERLUDE_SIGNERS": str(at.shop.signers),
    }
    return subprocess.run(
        [SCRIPT, file, *options],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def left(at: Bench) -> list[str]:
    return [path.name for path in at.store.root.iterdir()]


def test_the_program_in_the_archive_is_called_to_install_it(at: Bench) -> None:
    # The program of a workshop release prints its version and kind, whatever its arguments are.
    done = first(at, at.shop.make("0.1.0"), "--cold")
    assert (done.returncode, done.stdout) == (0, "0.1.0 good\n"), done.stderr
    assert left(at) == []


def test_an_archive_signed_with_an_untrusted_key_is_never_unpacked(at: Bench) -> None:
    done = first(at, at.shop.make("0.1.0", key=at.shop.new_key("stranger")))
    assert done.returncode != 0
    assert done.stdout == ""
    assert left(at) == []


def test_the_second_of_two_signatures_is_enough_if_it_is_the_trusted_one(at: Bench) -> None:
    """A release has the signatures of the old and the new key, and the box trusts the new one."""
    file = at.shop.make("0.1.0", key=at.shop.new_key("old"))
    sign_archive(file, at.shop.key)
    assert first(at, file, "--cold").returncode == 0


def test_a_changed_archive_is_not_unpacked(at: Bench) -> None:
    file = at.shop.make("0.1.0")
    data = bytearray(file.read_bytes())
    data[data.index(b"\x1f\x8b\x08") + 60] ^= 0xFF
    file.write_bytes(data)
    done = first(at, file)
    assert done.returncode != 0
    assert "FAILED" in done.stdout + done.stderr
    assert left(at) == []


def test_an_archive_with_a_changed_manifest_is_not_unpacked(at: Bench) -> None:
    file = at.shop.make("0.1.0")
    file.write_bytes(file.read_bytes().replace(b'"0.1.0"', b'"9.1.0"'))
    assert first(at, file).returncode != 0
    assert left(at) == []
