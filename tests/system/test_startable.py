"""Which releases the fallback may start: none below the floor, none of a key that is revoked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from appliance.update import signature
from appliance.update.signed_manifest import version_key
from system.usr.lib.interlude import startable
from system.usr.lib.interlude.fallback import Note, Seen, decide
from system.usr.lib.interlude.startable import Box, numbers
from tests.update.release.workshop import Bench, bench

pytestmark = pytest.mark.process

PROGRAM = Path(__file__).parents[2] / "system/usr/lib/interlude/startable.py"


@pytest.fixture
def box(tmp_path: Path) -> Bench:
    """0.3.0 is current; 0.2.0 and 0.1.0 are there, too. All are signed by the trusted key."""
    at = bench(tmp_path)
    for version in ("0.1.0", "0.2.0", "0.3.0"):
        at.installer().install(at.shop.make(version))
    return at


def names(box: Bench, current: str = "0.3.0") -> list[str]:
    """What the program prints, as fallback.py runs it."""
    places = {"INTERLUDE_ROOT": str(box.store.root), "INTERLUDE_SIGNERS": str(box.shop.signers)}
    done = subprocess.run([PROGRAM, current], env={**os.environ, **places}, capture_output=True,
                          text=True, check=True)  # fmt: skip
    return done.stdout.split()


def floor(box: Bench, least: object) -> None:
    (box.store.root / startable.FLOOR).write_text(json.dumps({"least_version": least}))


def test_without_a_floor_every_complete_and_signed_release_may_be_started(box: Bench) -> None:
    (box.store.folder("0.4.0") / "bin").mkdir(parents=True)
    assert names(box) == ["0.1.0", "0.2.0", "0.3.0"]
    (box.store.folder("0.1.0") / "bin/interlude").chmod(0o644)
    assert names(box) == ["0.2.0", "0.3.0"]


def test_what_an_interrupted_installation_left_is_not_started(box: Bench) -> None:
    for name in ("0.4.0", ".0.5.0.part"):
        shutil.copytree(box.store.folder("0.3.0"), box.store.folder(name))
    (box.store.folder("0.4.0") / "release.json").unlink()
    assert names(box) == ["0.1.0", "0.2.0", "0.3.0"]


def test_nothing_below_the_floor_is_started_except_what_is_current(box: Bench) -> None:
    floor(box, "0.2.0")
    assert names(box) == ["0.2.0", "0.3.0"]
    floor(box, "0.10.0")
    assert names(box) == ["0.3.0"]
    assert names(box, "0.1.0") == ["0.1.0"]


@pytest.mark.parametrize("harm", [b"", b"{", b"[]", b'{"least_version": 3}', b"\xff", b"{}"])
def test_a_damaged_record_of_the_floor_costs_no_release(box: Bench, harm: bytes) -> None:
    (box.store.root / startable.FLOOR).write_bytes(harm)
    assert names(box) == ["0.1.0", "0.2.0", "0.3.0"]


def test_a_release_of_a_revoked_key_is_started_only_if_it_is_current(box: Bench) -> None:
    box.shop.trust(box.shop.new_key("new"))
    assert names(box) == ["0.3.0"]


def test_the_signature_of_any_trusted_key_is_enough(box: Bench) -> None:
    new = box.shop.new_key("new")
    folder = box.store.folder("0.2.0")
    with (folder / "release.json.sig").open("ab") as file:
        file.write(signature.sign((folder / "release.json").read_bytes(), new))
    box.shop.trust(new)
    assert names(box) == ["0.2.0", "0.3.0"]


def test_where_two_keys_have_to_sign_one_is_not_enough_to_be_started(box: Bench) -> None:
    old, new = (box.shop.signers.read_text(), box.shop.new_key("new"))
    box.shop.trust(new)
    both = f"# least-signatures: 2\n{old}{box.shop.signers.read_text()}"
    box.shop.signers.write_text(both)
    manifest = (box.store.folder("0.2.0") / "release.json").read_bytes()
    kept = box.store.folder("0.2.0") / "release.json.sig"
    kept.write_bytes(kept.read_bytes() * 2)  # the same key twice
    assert names(box) == ["0.3.0"]
    kept.write_bytes(kept.read_bytes() + signature.sign(manifest, new))
    assert names(box) == ["0.2.0", "0.3.0"]


@pytest.mark.parametrize("harm", ["", "no signature", "another manifest"])
def test_a_signature_that_is_damaged_counts_as_none_of_a_trusted_key(box: Bench, harm: str) -> None:
    folder = box.store.folder("0.2.0")
    if harm == "another manifest":
        with (folder / "release.json").open("a") as file:
            file.write(" ")
    else:
        (folder / "release.json.sig").write_text(harm)
    assert names(box) == ["0.1.0", "0.3.0"]


@pytest.mark.parametrize("lacks", ["signatures", "keys"])
def test_what_cannot_be_verified_may_be_started_so_that_a_box_can_go_back(
    box: Bench, lacks: str
) -> None:
    """A release that came with the card has no signature; a machine may trust no key yet."""
    if lacks == "keys":
        box.shop.signers.unlink()
    else:
        box.shop.trust(box.shop.new_key("new"))
        (box.store.folder("0.1.0") / "release.json.sig").unlink()
    assert "0.1.0" in names(box)


def test_a_signature_whose_verification_does_not_end_counts_as_none_of_a_trusted_key(
    box: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hangs(*_words: object, **_options: object) -> None:
        raise subprocess.TimeoutExpired("ssh-keygen", startable.VERIFY_S)

    at = Box(box.store.root, box.shop.signers)
    assert at.startable("0.3.0") == ["0.1.0", "0.2.0", "0.3.0"]
    monkeypatch.setattr(subprocess, "run", hangs)
    assert at.startable("0.3.0") == ["0.3.0"]


@pytest.mark.parametrize("may", [True, False])
@pytest.mark.parametrize(
    "note",
    [Note("0.2.0", failures=1, tried=("0.3.0",), left="0.3.0"), Note("0.2.0", going_to="0.3.0")],
    ids=["a return to what was left", "an interrupted change"],
)
def test_the_fallback_goes_to_another_release_only_if_that_may_be_started(
    note: Note, may: bool
) -> None:
    """A security update or a revoked key can forbid it between two failures."""
    startable_now = frozenset({"0.2.0", "0.3.0"} if may else {"0.2.0"})
    seen = Seen("0.2.0", "0.3.0", startable_now, "exit-code", 70, "boot", 1000.0)
    assert decide(note, seen).link == ("0.3.0" if may else "")


def test_versions_are_compared_as_the_box_compares_them() -> None:
    versions = ["0.2.0a1", "0.2.0rc1", "0.2.0", "0.10.0", "1.0.0"]
    assert sorted(versions, key=numbers) == sorted(versions, key=version_key) == versions
    assert numbers("../1") == ()
    assert startable.WHO == signature.WHO
    assert startable.NAMESPACE == signature.NAMESPACE
    assert Box.signers == signature.SIGNERS
