"""A release can change the keys that the box trusts, if the old and the new keys signed the list;
a thief of one of two keys can not."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from appliance.errors import HealthCheckFailed, ReleaseRefused
from appliance.update import signature
from appliance.update.archive_parts import sign_archive
from appliance.update.release import security_record
from appliance.update.release.installer import InstallOptions
from appliance.update.release.security_record import SecurityRecord
from appliance.update.release.signer_rotation import NAME, NAMESPACE, SIGNATURES, parse, read
from tests.update.release.workshop import Bench

pytestmark = pytest.mark.process


@pytest.fixture
def box(at: Bench) -> Bench:
    """The box runs 0.1.0, and trusts the maker's key alone."""
    at.installer().install(at.shop.make("0.1.0"))
    return at


def public(key: Path) -> str:
    return key.with_suffix(".pub").read_text().strip()


def asks(
    box: Bench,
    version: str,
    keys: Sequence[Path],
    signed_by: Sequence[Path],
    *,
    number: int = 1,
    kind: str = "good",
    least: int = 1,
    namespace: str = NAMESPACE,
) -> Path:
    """A release, signed by the maker, with a list of keys that others have signed."""
    listed = {"number": number, "keys": [public(key) for key in keys], "least": least}
    data = json.dumps(listed).encode()
    signatures = b"".join(signature.sign(data, key, namespace) for key in signed_by)
    more = {NAME: data, SIGNATURES: signatures}
    return box.shop.make(version, kind, more=more)


def trusted(box: Bench) -> set[str]:
    return set(signature.public_keys(box.shop.signers.read_text()))


def blobs(*keys: Path) -> set[str]:
    return set(signature.public_keys("\n".join(map(public, keys))))


# ── a change ─────────────────────────────────────────────────────────────────────────────────
def test_a_kept_release_replaces_the_key_with_a_new_one(box: Bench) -> None:
    old, new = box.shop.key, box.shop.new_key("new")
    box.installer().install(asks(box, "0.2.0", [new], [old, new]))
    assert trusted(box) == blobs(new)
    assert (box.store.root / security_record.NOTE).exists()
    assert box.store.security().signers == 1
    assert box.installer().install(box.shop.make("0.3.0", key=new))
    with pytest.raises(ReleaseRefused, match="not signed"):
        box.installer().install(box.shop.make("0.4.0", key=old))


def test_the_keys_are_changed_only_after_the_health_check(box: Bench) -> None:
    new = box.shop.new_key("new")
    with pytest.raises(HealthCheckFailed):
        box.installer().install(asks(box, "0.2.0", [new], [box.shop.key, new], kind="crashes"))
    assert trusted(box) == blobs(box.shop.key)
    assert box.installer().install(box.shop.make("0.3.0"))
    assert trusted(box) == blobs(box.shop.key)  # 0.2.0 is installed still


def test_a_list_may_require_two_signatures_for_each_release_from_then_on(box: Bench) -> None:
    old, new = box.shop.key, box.shop.new_key("new")
    box.installer().install(asks(box, "0.2.0", [old, new], [old, new], least=2))
    with pytest.raises(ReleaseRefused, match="2 of the keys have to sign, and 1 did"):
        box.installer().install(box.shop.make("0.3.0"))


def test_the_same_list_in_each_later_release_changes_nothing(box: Bench) -> None:
    old, new = box.shop.key, box.shop.new_key("new")
    box.installer().install(asks(box, "0.2.0", [old, new], [old, new]))
    box.shop.trust(old)  # the owner, by hand or with Ansible, after that
    box.installer().install(asks(box, "0.3.0", [old, new], [old, new]))
    assert trusted(box) == blobs(old)


def test_a_change_of_the_keys_keeps_the_floor_of_an_earlier_security_update(box: Bench) -> None:
    old, new = box.shop.key, box.shop.new_key("new")
    box.installer().install(box.shop.make("0.2.0", policy={"security": True}))
    box.installer().install(asks(box, "0.3.0", [old, new], [old, new]))
    assert security_record.read(box.store.root) == SecurityRecord("0.2.0", signers=1)


# ── refused ──────────────────────────────────────────────────────────────────────────────────
def refused(box: Bench, archive: Path, why: str, caplog: pytest.LogCaptureFixture) -> None:
    """Assert that the release is installed, and the keys stay as they are."""
    before = box.shop.signers.read_bytes()
    assert box.installer().install(archive)
    assert box.shop.signers.read_bytes() == before
    assert why in caplog.text
    assert box.store.security().signers == 0


@pytest.mark.parametrize("signed_by", [("new",), (), ("thief",), ("new", "thief")])
def test_without_the_signature_of_a_trusted_key_nothing_changes(
    box: Bench, signed_by: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    keys = {name: box.shop.new_key(name) for name in ("new", "thief")}
    archive = asks(box, "0.2.0", [keys["new"]], [keys[name] for name in signed_by])
    refused(box, archive, "signed by 0 of the trusted keys, not by 1", caplog)


def test_a_new_key_that_did_not_sign_is_not_accepted(
    box: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistyped key, or one that nobody has any more, would lock the owner out."""
    new = box.shop.new_key("new")
    archive = asks(box, "0.2.0", [new], [box.shop.key])
    refused(box, archive, "A new key did not sign", caplog)


def test_of_two_trusted_keys_a_stolen_one_cannot_replace_the_other(
    box: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    stolen, other = box.shop.key, box.shop.new_key("other")
    thief = box.shop.new_key("thief")
    box.shop.trust(stolen, other)
    for number, keys in enumerate(([thief], [stolen], [stolen, thief]), 2):
        archive = asks(box, f"0.{number}.0", keys, [stolen, thief])
        refused(box, archive, "signed by 1 of the trusted keys, not by 2", caplog)
    box.installer().install(asks(box, "0.9.0", [other], [stolen, other]))
    assert trusted(box) == blobs(other)


def test_where_three_keys_have_to_sign_a_release_two_cannot_change_the_keys(
    box: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    keys = [box.shop.key, box.shop.new_key("second"), box.shop.new_key("third")]
    archive = asks(box, "0.2.0", keys[:2], keys[:2])
    for key in keys[1:]:
        sign_archive(archive, key)
    box.shop.trust(*keys)
    box.shop.signers.write_text(f"# least-signatures: 3\n{box.shop.signers.read_text()}")
    refused(box, archive, "signed by 2 of the trusted keys, not by 3", caplog)


def test_an_old_list_does_not_bring_back_a_key(box: Bench) -> None:
    """The list of the first change is signed by the key that is trusted now, too."""
    first, second = box.shop.key, box.shop.new_key("second")
    both = asks(box, "0.2.0", [first, second], [first, second], number=1)
    box.installer().install(both)
    box.installer().install(asks(box, "0.3.0", [second], [first, second], number=2))
    assert trusted(box) == blobs(second)
    listed = {"number": 1, "keys": [public(first), public(second)], "least": 1}
    data = json.dumps(listed).encode()
    signatures = b"".join(signature.sign(data, key, NAMESPACE) for key in (first, second))
    again = box.shop.make("0.4.0", key=second, more={NAME: data, SIGNATURES: signatures})
    box.installer().install(again)
    assert trusted(box) == blobs(second)


def test_a_signature_that_was_made_for_a_release_signs_no_list(
    box: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """A compromised build can have any bytes signed as a manifest."""
    new = box.shop.new_key("new")
    archive = asks(box, "0.2.0", [new], [box.shop.key, new], namespace=signature.NAMESPACE)
    refused(box, archive, "signed by 0 of the trusted keys", caplog)


def test_a_box_that_trusts_no_key_yet_gets_none_from_a_release(box: Bench) -> None:
    new = box.shop.new_key("new")
    archive = asks(box, "0.2.0", [new], [box.shop.key, new])
    box.installer().install(archive, InstallOptions(start=False))
    (box.store.root / security_record.NOTE).unlink()
    box.shop.signers.unlink()
    with pytest.raises(ReleaseRefused, match="trusts no key"):
        box.installer().install(box.shop.make("0.3.0", key=new))
    assert not box.shop.signers.exists()


# ── later ────────────────────────────────────────────────────────────────────────────────────
def test_a_change_that_was_interrupted_is_made_at_the_next_installation(box: Bench) -> None:
    """A power cut after the link; or an earlier version of the installer, which knows no lists."""
    old, new = box.shop.key, box.shop.new_key("new")
    box.installer().install(asks(box, "0.2.0", [new], [old, new]))
    box.shop.trust(old)
    (box.store.root / security_record.NOTE).unlink()
    assert box.installer().install(box.shop.make("0.3.0", key=new))
    assert trusted(box) == blobs(new)


def test_a_file_of_keys_that_cannot_be_written_yet_does_not_prevent_the_installation(
    box: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """The update's unit of an older system sees it read-only."""
    old, new = box.shop.key, box.shop.new_key("new")
    (box.shop.signers.with_name(".allowed_signers.new")).mkdir()  # in the way of the new file
    refused(box, asks(box, "0.2.0", [new], [old, new]), "are not changed as release 0.2.0", caplog)
    box.shop.signers.with_name(".allowed_signers.new").rmdir()
    assert box.installer().install(box.shop.make("0.3.0", key=new))
    assert trusted(box) == blobs(new)


# ── the file ─────────────────────────────────────────────────────────────────────────────────
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJustAnExample"


@pytest.mark.parametrize(
    "listed",
    [{"number": 0, "keys": [KEY]}, {"number": 1, "keys": []}, {"number": 1, "keys": [KEY] * 9},
     {"number": 1, "keys": [f"{KEY}\nrelease@interlude ssh-ed25519 AAAAthief"]},
     {"number": 1, "keys": [f'namespaces="git" {KEY}']}, {"number": 1, "keys": ["ssh-ed25519"]},
     {"number": 1, "keys": [KEY], "least": 2}, {"number": 1, "keys": [KEY, KEY], "least": 2},
     {"number": 1, "keys": [KEY], "more": 1}, {"keys": [KEY]}, [], "x"],
)  # fmt: skip
def test_a_list_that_is_not_sound_is_refused(listed: object) -> None:
    with pytest.raises(ReleaseRefused):
        parse(json.dumps(listed).encode())


def test_a_sound_list_is_read_and_a_missing_one_is_none(tmp_path: Path) -> None:
    hardware = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t me@home"
    found = parse(json.dumps({"number": 7, "keys": [KEY, hardware], "least": 2}).encode())
    assert signature.least_signatures(found.text) == 2
    assert signature.public_keys(found.text) == (KEY, hardware.removesuffix(" me@home"))
    assert read(tmp_path) is None
    (tmp_path / "policy").mkdir()
    (tmp_path / NAME).write_text("{}")
    assert read(tmp_path) is None  # nobody signed it
    (tmp_path / SIGNATURES).write_text("")
    with pytest.raises(ReleaseRefused, match="cannot be used"):
        read(tmp_path)


def test_the_unit_of_an_update_may_write_the_trusted_keys_and_that_of_a_system_may_not() -> None:
    units = Path(__file__).parents[3] / "system/usr/lib/systemd/system"
    folder = f"-{signature.SIGNERS.parent}"
    for name, key in (("update", "ReadWritePaths"), ("system", "ReadOnlyPaths")):
        text = (units / f"interlude-{name}.service").read_text()
        (paths,) = re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)
        assert folder in paths.split()
