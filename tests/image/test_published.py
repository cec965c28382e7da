"""The files of a release are checked against their signed checksums, against the rules of Imager,
and by unpacking the image."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance import __version__
from appliance.update import signature
from appliance.update.archive_parts import write_parts
from image import imager, sbom
from image.bmap import block_map
from image.publish import sums
from scripts import published
from scripts import sign as signing
from tests.update.release.workshop import Workshop

pytestmark = pytest.mark.process

HOW = Path(__file__).parents[2] / published.HOW
NAME = "interlude-0.1.0-rpi5"
WHERE = "https://example.org/releases/download/v0.1.0"
TIME_S = 1_780_000_000


def card(path: Path, word: bytes = b"card") -> Path:
    """Data, a hole, data, and an incomplete last block."""
    with path.open("wb") as file:
        file.write(os.urandom(20_000) + word)
        file.truncate(9 << 20)
        file.seek(5 << 20)
        file.write(word * 3000)
        file.truncate((9 << 20) + 512)
    return path


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def dist(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The output of `make image` for a small card."""
    monkeypatch.setenv(imager.DOWNLOAD, WHERE)
    into = shop.folder / "dist"
    into.mkdir()
    image = card(shop.folder / f"{NAME}.img")
    packed = into / f"{NAME}.img.zst"
    subprocess.run(["zstd", "-q", image, "-o", packed], check=True)
    (into / f"{NAME}.bmap").write_text(block_map(image))
    (into / f"{NAME}{imager.SUFFIX}").write_text(imager.manifest(packed, image, "0.1.0", TIME_S))
    rows = [sbom.Row("deb", "udev", "257"), sbom.Row("pypi", "numpy", "2.0")]
    (into / f"{NAME}.cdx.json").write_text(sbom.document(rows, "0.1.0", TIME_S))
    (into / f"{NAME}.tree").write_text("tree")
    for kind in ("system", "release"):
        names = (f"{kind}.json", f"{kind}.json.sig", "content")
        archive = into / f"interlude-0.1.0-aarch64.{kind}"
        write_parts(archive, names, kind.encode(), TIME_S, io.BytesIO(os.urandom(5000)))
    return sign(shop, into)


def sign(shop: Workshop, into: Path, key: Path | None = None) -> Path:
    for old in into.glob("*.sha256*"):
        old.unlink()
    sheet = sums(sorted(into.iterdir()), into / f"{NAME}.sha256")
    signing.sign([sheet], key or shop.key)
    return into


def test_a_release_as_it_is_built_passes_the_check(shop: Workshop, dist: Path) -> None:
    assert published.check(dist, shop.signers) == []


def edit(into: Path, ending: str, do: Callable[[bytes], bytes]) -> None:
    (path,) = into.glob(f"*{ending}")
    path.write_bytes(do(path.read_bytes()))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda into: edit(into, ".bmap", lambda data: data + b" "), "another SHA-256"),
        (lambda into: edit(into, ".img.zst", lambda data: data[:-1]), "another SHA-256"),
        (lambda into: edit(into, ".sha256", lambda data: data + b" "), "not signed with a key"),
        (lambda into: next(into.glob("*.release")).unlink(), "listed, but missing"),
        (lambda into: (into / "more").write_text("x"), "more has no signed checksum"),
        (lambda into: next(into.glob("*.sig")).unlink(), "No such file"),
    ],
)  # fmt: skip
def test_a_change_after_the_signature_is_detected(
    shop: Workshop, dist: Path, spoil: Callable[[Path], object], why: str
) -> None:
    spoil(dist)
    assert why in " ".join(published.check(dist, shop.signers))


def test_a_signature_with_another_key_is_detected(shop: Workshop, dist: Path) -> None:
    sign(shop, dist, shop.new_key("stranger"))
    assert "not signed with a key" in " ".join(published.check(dist, shop.signers))


def listing(**changes: Any) -> Callable[[bytes], bytes]:
    """Change the entry of Imager's list; None removes a key."""

    def do(data: bytes) -> bytes:
        listed = json.loads(data)
        entry = {**listed["os_list"][0], **changes}
        listed["os_list"] = [{name: value for name, value in entry.items() if value is not None}]
        return json.dumps(listed).encode()

    return do


@pytest.mark.parametrize(
    ("ending", "do", "why"),
    [
        (imager.SUFFIX, listing(extract_size=5), "unpacks to another card"),
        (imager.SUFFIX, listing(extract_sha256="0" * 64), "unpacks to another card"),
        (imager.SUFFIX, listing(image_download_size=5), "another size of the download"),
        (imager.SUFFIX, listing(url=f"{WHERE}/other.img.zst"), "which is not"),
        (imager.SUFFIX, listing(url="file:///srv/a.img.zst"), "other machines cannot reach"),
        (imager.SUFFIX, listing(devices=None), "devices is missing"),
        (imager.SUFFIX, listing(devices=["pi4-64bit"]), "No board of the list"),
        (imager.SUFFIX, listing(init_format="cloud-init"), "no init_format cloud-init"),
        (imager.SUFFIX, listing(release_date="May"), "no date"),
        (imager.SUFFIX, lambda _: b"{}", "has no os_list"),
        (".bmap", lambda data: data.replace(b"<Range", b"<!-- <Range", 1), "cannot be parsed"),
        (".bmap", lambda data: data.replace(b"bmap v", b"bmap  v", 1), "own checksum is wrong"),
        (".cdx.json", lambda _: b'{"bomFormat": "CycloneDX", "components": []}', "of materials"),
    ],
)  # fmt: skip
def test_a_signed_but_wrong_file_is_detected(
    shop: Workshop, dist: Path, ending: str, do: Callable[[bytes], bytes], why: str
) -> None:
    edit(dist, ending, do)
    sign(shop, dist)
    assert why in " ".join(published.check(dist, shop.signers))


def test_the_block_map_of_another_card_is_detected(shop: Workshop, dist: Path) -> None:
    other = card(shop.folder / "other.img", b"cart")
    edit(dist, ".bmap", lambda _: block_map(other).encode())
    sign(shop, dist)
    wrong = published.check(dist, shop.signers)
    assert len(wrong) == 2
    assert all("are not the block map's" in problem for problem in wrong)


def test_the_tag_must_be_the_version_of_the_tree() -> None:
    assert published.main(["tag", f"v{__version__}"]) == 0
    assert published.tag(__version__)
    assert published.tag("v9.9.9")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "is missing: without it"),
        ("", "no row of release@interlude"),
        ("# release@interlude ssh-ed25519 AAAA\n", "no row of release@interlude"),
        ("somebody@interlude @key@\n", "no row of release@interlude"),
        ("release@interlude ssh-ed25519 AAAAC3Nz\n", "no public key"),
        ("release@interlude\n", "no public key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\n", "contains a private key"),
    ],
)
def test_a_repository_without_valid_signers_is_reported_with_a_remedy(
    shop: Workshop, text: str | None, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    signers = shop.folder / "signers"
    if text is not None:
        signers.write_text(text.replace("@key@", shop.key.with_suffix(".pub").read_text()))
    assert published.main(["signers", str(signers)]) == 1
    error = capsys.readouterr().err
    assert why in error
    assert ".github/SIGNERS.md" in error


def test_a_signers_file_written_as_documented_is_accepted(shop: Workshop) -> None:
    (example,) = re.findall(r"^ *(release@interlude .*)$", HOW.read_text(), re.MULTILINE)
    public = shop.key.with_suffix(".pub").read_text().strip()
    signers = shop.folder / "signers"
    signers.write_text(f"# who makes releases\n{example.replace('ssh-ed25519 AAAA…', public)}\n")
    assert published.main(["signers", str(signers)]) == 0
    assert published.key(shop.key, signers) == []
    signature.verify(b"sums", signature.sign(b"sums", shop.key), signers)


def test_the_key_must_match_a_signer_and_be_private(shop: Workshop) -> None:
    assert published.key(shop.key, shop.signers) == []
    for spoilt, signers, why in (
        (shop.new_key("stranger"), shop.signers, "not the private half"),
        (shop.signers, shop.signers, "read by others"),
        (shop.key, shop.folder / "none", "is missing"),
    ):
        assert why in " ".join(published.key(spoilt, signers))
    shop.key.chmod(0o640)
    assert "read by others" in " ".join(published.key(shop.key, shop.signers))


def test_the_error_about_an_unusable_key_does_not_contain_it(
    shop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = shop.folder / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "hunter2", "-f", locked], check=True)
    for words in (locked.read_text(), "-----BEGIN hunter2", ""):
        locked.write_text(words)
        locked.chmod(0o600)
        assert published.main(["key", str(locked), str(shop.signers)]) == 1
        output = capsys.readouterr()
        assert output.err == "The secret is no private ssh key without a passphrase.\n"
        assert output.out == ""
