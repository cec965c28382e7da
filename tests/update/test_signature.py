"""Signatures by ssh-keygen: of whom the box trusts, over these very bytes, and nobody else's."""

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


def test_what_a_trusted_key_signed_is_taken_and_a_changed_byte_is_not(shop: Workshop) -> None:
    signed = sign(MESSAGE, shop.key)
    verify(MESSAGE, signed, shop.signers)
    with pytest.raises(ReleaseRefused, match="not signed with a key that this box trusts"):
        verify(MESSAGE + b" ", signed, shop.signers)


@pytest.mark.parametrize("signature", [b"", b"\xff" * 100, b"-----BEGIN SSH SIGNATURE-----\n"])
def test_what_is_no_signature_is_refused(shop: Workshop, signature: bytes) -> None:
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


def test_a_signature_for_another_use_of_the_same_key_is_none(shop: Workshop) -> None:
    """A login or a commit that was signed cannot be passed off as a release."""
    (shop.folder / "message").write_bytes(MESSAGE)
    subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-q", "-n", "git", "-f", shop.key, shop.folder / "message"],
        check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    with pytest.raises(ReleaseRefused, match="not signed"):
        verify(MESSAGE, (shop.folder / "message.sig").read_bytes(), shop.signers)


def test_a_box_that_trusts_nobody_says_where_to_begin(shop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match="trusts no key for releases yet"):
        verify(MESSAGE, b"", tmp_path / "none")


def test_a_key_that_is_none_cannot_sign(shop: Workshop, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("no key")
    (tmp_path / "odd").chmod(0o600)
    with pytest.raises(ReleaseRefused, match="cannot sign"):
        sign(MESSAGE, tmp_path / "odd")
