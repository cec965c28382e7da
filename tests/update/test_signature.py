"""Signatures by ssh-keygen are valid only for a trusted key and for exactly the signed bytes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.signature import sign, verify
from tests.update.release.workshop import Workshop

pytestmark = pytest.mark.process
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


def test_a_box_without_trusted_keys_is_reported(shop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match="trusts no key for releases yet"):
        verify(MESSAGE, b"", tmp_path / "none")


def test_an_invalid_key_cannot_sign(shop: Workshop, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("no key")
    (tmp_path / "odd").chmod(0o600)
    with pytest.raises(ReleaseRefused, match="cannot sign"):
        sign(MESSAGE, tmp_path / "odd")
