"""Malicious archives that are signed with a trusted key."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from appliance.errors import ReleaseRefused
from appliance.update import signature
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release.archive import (
    RELEASE,
    TREE,
    PackedTree,
    ReleaseArchive,
)
from appliance.update.release.disk_changes import Disk
from appliance.update.release.manifest import NAME, SIGNATURES, ReleaseManifest
from tests.update.release.workshop import MADE_S, Bench

pytestmark = pytest.mark.process


Fill = Callable[[tarfile.TarFile], None]


def crafted(at: Bench, fill: Fill, files_bytes: int = 10_000) -> PackedTree:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb") as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as tar,
    ):
        fill(tar)
    data = packed.getvalue()
    manifest = ReleaseManifest(
        version="6.6.6", machine="any", python="any", made_s=MADE_S,
        tree_sha256=hashlib.sha256(data).hexdigest(), tree_bytes=len(data),
        files_bytes=files_bytes,
    ).encode()  # fmt: skip
    path = at.shop.folder / "crafted.release"
    with tarfile.open(path, "w") as outer:
        for name, content in (
            (NAME, manifest),
            (RELEASE.parts[1], signature.sign(manifest, at.shop.key)),
            (TREE, data),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            outer.addfile(info, io.BytesIO(content))
    with HandedOverFile(path, RELEASE.most_bytes) as handed:
        return ReleaseArchive(handed, at.shop.signers).copy(at.shop.folder / "copy", Disk())


def of_zeros(name: str, size: int) -> Fill:
    def fill(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.size = size
        tar.addfile(info, io.BytesIO(bytes(size)))

    return fill


@pytest.mark.parametrize(
    ("name", "size"), [("bomb", 20_000), ("../outside", 1), (NAME, 1), (SIGNATURES, 1)]
)
def test_an_oversized_or_escaping_archive_leaves_no_complete_tree(
    at: Bench, tmp_path: Path, name: str, size: int
) -> None:
    archive = crafted(at, of_zeros(name, size))
    with pytest.raises(ReleaseRefused):
        archive.unpack(tmp_path / "tree", Disk())
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "tree" / NAME).exists()


def test_the_copy_has_no_name_and_mode_0600(at: Bench, tmp_path: Path) -> None:
    modes = []

    class Seen(Disk):
        def nameless(self, path: Path) -> BinaryIO:
            made = super().nameless(path)
            modes.append((stat.S_IMODE(os.fstat(made.fileno()).st_mode), os.path.lexists(path)))
            return made

    with HandedOverFile(at.shop.make("0.1.0"), RELEASE.most_bytes) as handed:
        ReleaseArchive(handed, at.shop.signers).copy(tmp_path / "copy", Seen()).close()
    assert modes == [(0o600, False)]


@pytest.mark.parametrize("kind", ["a link", "a file"])
def test_a_link_or_file_at_the_path_of_the_copy_is_neither_followed_nor_written(
    at: Bench, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "theirs").write_text("as it was")
    if kind == "a link":
        (tmp_path / "copy").symlink_to("theirs")
    else:
        (tmp_path / "copy").hardlink_to(tmp_path / "theirs")
    with HandedOverFile(at.shop.make("0.1.0"), RELEASE.most_bytes) as handed:
        ReleaseArchive(handed, at.shop.signers).copy(tmp_path / "copy", Disk()).close()
    assert (tmp_path / "theirs").read_text() == "as it was"
    assert not os.path.lexists(tmp_path / "copy")


def test_nothing_is_written_from_an_archive_with_an_untrusted_signature(at: Bench) -> None:
    """Its manifest is not parsed either, and no error message repeats it."""

    class Untouched(Disk):
        def nameless(self, path: Path) -> BinaryIO:
            raise AssertionError(path)

    file = at.shop.make("0.1.0", key=at.shop.new_key("stranger"))
    file.write_bytes(file.read_bytes().replace(b'"machine"', b'"rumours"'))
    with pytest.raises(ReleaseRefused, match="not signed") as refused:
        at.installer(Untouched()).install(file)
    assert "rumours" not in str(refused.value)


def test_peek_returns_none_for_a_file_that_is_no_release(at: Bench, tmp_path: Path) -> None:
    (tmp_path / "x.release").write_bytes(b"no")
    assert RELEASE.peek(tmp_path / "x.release") is None
    assert RELEASE.peek(tmp_path / "gone.release") is None
    found = RELEASE.peek(at.shop.make("0.1.0"))
    assert found is not None
    assert found.version == "0.1.0"
