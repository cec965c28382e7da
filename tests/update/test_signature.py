"""Signatures by ssh-keygen are valid only for a trusted key and for exactly the signed bytes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.signature import MOST_SIGNATURES, WHO, sign, signers_text, verify
from tests.skips import ROOT_RIGHTS
from tests.update.release.workshop import Workshop

pytestmark = pytest.mark.process
FORMED = b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"
MESSAGE = b'{"version": "1.2.3"}'


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_a_message_signed_with_a_trusted_key_is_accepted_and_a_changed_one_is_not(
    shop: Workshop,
) -> None:
    signed = sign(MESSAGE, shop.key)
    verify(MESSAGE, signed, shop.signers)
    with pytest.raises(ReleaseRefused, match="not signed with a key that this box trusts"):
        verify(MESSAGE + b" ", signed, shop.signers)


@pytest.mark.parametrize("signature", [b"", b"\xff" * 100, b"-----BEGIN SSH SIGNATURE-----\n"])
def test_an_invalid_signature_is_refused(shop: Workshop, signature: bytes) -> None:
    with pytest.raises(ReleaseRefused, match="not signed") as refused:
        verify(MESSAGE, signature, shop.signers)
    assert str(shop.signers) in refused.value.remedy


def test_a_key_is_trusted_as_long_as_it_is_listed(shop: Workshop) -> None:
    new = shop.new_key("new")
    signed = sign(MESSAGE, new)
    with pytest.raises(ReleaseRefused):
        verify(MESSAGE, signed, shop.signers)
    shop.trust(shop.key, new)
    verify(MESSAGE, signed, shop.signers)
    verify(MESSAGE, sign(MESSAGE, shop.key), shop.signers)


def test_a_signature_of_the_same_key_for_another_purpose_is_refused(shop: Workshop) -> None:
    """A signed login or commit cannot be passed off as a release."""
    (shop.folder / "message").write_bytes(MESSAGE)
    subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-q", "-n", "git", "-f", shop.key, shop.folder / "message"],
        check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    with pytest.raises(ReleaseRefused, match="not signed"):
        verify(MESSAGE, (shop.folder / "message.sig").read_bytes(), shop.signers)


def test_a_file_of_trusted_keys_allows_them_to_sign_releases_and_nothing_else(
    shop: Workshop,
) -> None:
    """Whoever checks another signature with the same file must not accept these keys."""
    shop.signers.write_text(signers_text([shop.key.with_suffix(".pub").read_text().strip()]))
    verify(MESSAGE, sign(MESSAGE, shop.key), shop.signers)
    (shop.folder / "commit.sig").write_bytes(sign(MESSAGE, shop.key, "git"))
    done = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-n", "git", "-f", shop.signers, "-I", WHO,
         "-s", shop.folder / "commit.sig"],
        input=MESSAGE, check=False, capture_output=True,
    )  # fmt: skip
    assert done.returncode != 0


def test_a_box_without_trusted_keys_is_reported(shop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match="trusts no key for releases yet"):
        verify(MESSAGE, b"", tmp_path / "none")


@pytest.mark.parametrize("who_signs", [("maker",), ("maker", "maker"), ("maker", "stranger")])
def test_where_two_keys_have_to_sign_one_is_not_enough_however_often_it_signs(
    shop: Workshop, who_signs: tuple[str, ...]
) -> None:
    """A thief of one key adds a key of their own, or signs twice."""
    keys = {"maker": shop.key, "other": shop.new_key("other"), "stranger": shop.new_key("stranger")}
    shop.trust(keys["maker"], keys["other"])
    shop.signers.write_text(f"# least-signatures: 2\n{shop.signers.read_text()}")
    signed = b"".join(sign(MESSAGE, keys[name]) for name in who_signs)
    with pytest.raises(ReleaseRefused, match="2 of the keys have to sign, and 1 did"):
        verify(MESSAGE, signed, shop.signers)
    verify(MESSAGE, signed + sign(MESSAGE, keys["other"]), shop.signers)


def test_a_key_that_is_listed_twice_counts_once(shop: Workshop) -> None:
    shop.trust(shop.key, shop.key)
    shop.signers.write_text(f"# least-signatures: 2\n{shop.signers.read_text()}")
    with pytest.raises(ReleaseRefused, match="1 did"):
        verify(MESSAGE, sign(MESSAGE, shop.key) * 2, shop.signers)


def test_one_trusted_signature_among_others_is_enough_where_one_key_has_to_sign(
    shop: Workshop,
) -> None:
    """A release has the signatures of the old and the new key while boxes change from one to the
    other."""
    old, new = shop.new_key("old"), shop.new_key("new")
    signed = sign(MESSAGE, old) + sign(MESSAGE, new)
    for trusted in (old, new):
        shop.trust(trusted)
        verify(MESSAGE, signed, shop.signers)


def test_a_file_with_too_many_signatures_is_refused(shop: Workshop) -> None:
    signed = sign(MESSAGE, shop.key)
    verify(MESSAGE, signed * MOST_SIGNATURES, shop.signers)
    with pytest.raises(ReleaseRefused, match="not signed"):
        verify(MESSAGE, signed * (MOST_SIGNATURES + 1), shop.signers)


def test_root_lets_another_user_parse_the_signature_of_a_stranger(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ssh-keygen that writes down who runs it, and what that user can read."""
    if os.geteuid() != 0:
        pytest.skip(ROOT_RIGHTS)
    secret = shop.folder / "secret"
    secret.write_text("of root")
    secret.chmod(0o600)
    monkeypatch.setenv("SECRET", "of the environment")
    with tempfile.TemporaryDirectory() as folder:  # not below the tests' folder, which is root's
        Path(folder).chmod(0o755)
        told, program = Path(folder, "told"), Path(folder, "ssh-keygen")
        told.touch()
        told.chmod(0o666)
        program.write_text(
            f'#!/bin/sh\nexec >{told} 2>&1\nid -u\nid -G\necho "$SECRET"\ncat {secret}\nexit 1\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        own = os.getgroups()
        os.setgroups([0])  # as for a root that logged in
        try:
            with pytest.raises(ReleaseRefused):
                verify(MESSAGE, FORMED, shop.signers)
        finally:
            os.setgroups(own)
        uid, groups, environment, reads = told.read_text().splitlines()
    assert uid != "0"
    assert "0" not in groups.split()
    assert environment == ""
    assert "ermission denied" in reads


def test_root_that_may_not_change_its_user_verifies_all_the_same(shop: Workshop) -> None:
    """The units of an older system have no CAP_SETUID, and still install the next release."""
    if os.geteuid() != 0:
        pytest.skip(ROOT_RIGHTS)
    program = (
        "import sys; from pathlib import Path; from appliance.update.signature import verify; "
        "verify(sys.argv[1].encode(), Path(sys.argv[2]).read_bytes(), Path(sys.argv[3]))"
    )
    file = shop.folder / "signed"
    file.write_bytes(sign(MESSAGE, shop.key))
    subprocess.run(
        ["setpriv", "--bounding-set=-setuid,-setgid", "--inh-caps=-setuid,-setgid",
         sys.executable, "-c", program, MESSAGE, file, shop.signers],
        check=True,
    )  # fmt: skip


def test_an_invalid_key_cannot_sign(shop: Workshop, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("no key")
    (tmp_path / "odd").chmod(0o600)
    with pytest.raises(ReleaseRefused, match="cannot sign"):
        sign(MESSAGE, tmp_path / "odd")
