"""Archives that were made to do harm, and signed by somebody whom the box trusts."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.release import signature
from appliance.release.archive import MOST_BYTES, SIGNATURE, TREE, Archive, Tree, look
from appliance.release.disk import Disk
from appliance.release.handed import Handed
from appliance.release.manifest import NAME, Manifest
from tests.release.workshop import MADE_S, Bench

Fill = Callable[[tarfile.TarFile], None]


def crafted(at: Bench, fill: Fill, files_bytes: int = 10_000) -> Tree:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb") as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as tar,
    ):
        fill(tar)
    data = packed.getvalue()
    manifest = Manifest(
        version="6.6.6", machine="any", python="any", made_s=MADE_S,
        tree_sha256=hashlib.sha256(data).hexdigest(), tree_bytes=len(data),
        files_bytes=files_bytes,
    ).encode()  # fmt: skip
    path = at.shop.folder / "crafted.release"
    with tarfile.open(path, "w") as outer:
        for name, content in (
            (NAME, manifest),
            (SIGNATURE, signature.sign(manifest, at.shop.key)),
            (TREE, data),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            outer.addfile(info, io.BytesIO(content))
    with Handed(path, MOST_BYTES) as handed:
        return Archive(handed, at.shop.signers).copy(at.shop.folder / "copy", Disk())


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", data: bytes = b"") -> Fill:
    def fill(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.size = kind, link, len(data)
        tar.addfile(info, io.BytesIO(data))

    return fill


@pytest.mark.parametrize(
    "fill",
    [
        member("../outside"),
        member("/etc/outside"),
        member("lib/../../outside"),
        member(NAME),
        member("link", tarfile.SYMTYPE, "/etc/passwd"),
        member("lib/link", tarfile.SYMTYPE, "../../outside"),
        member("device", tarfile.CHRTYPE),
        member("pipe", tarfile.FIFOTYPE),
        member("hard", tarfile.LNKTYPE, "/etc/passwd"),
        member("bomb", data=b"\0" * 20_000),
    ],
)
def test_what_leads_out_of_the_tree_or_is_no_file_is_refused(
    at: Bench, tmp_path: Path, fill: Fill
) -> None:
    archive = crafted(at, fill)
    with pytest.raises(ReleaseRefused):
        archive.unpack(tmp_path / "tree", Disk())
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "tree" / NAME).exists()


def test_a_link_to_a_neighbour_in_the_tree_is_welcome(at: Bench, tmp_path: Path) -> None:
    def fill(tar: tarfile.TarFile) -> None:
        member("lib", tarfile.DIRTYPE)(tar)
        member("lib/link", tarfile.SYMTYPE, "../bin/there")(tar)

    archive = crafted(at, fill)
    archive.unpack(tmp_path / "tree", Disk())
    assert (tmp_path / "tree/lib/link").readlink() == Path("../bin/there")


def test_nobody_can_write_what_others_unpacked(at: Bench, tmp_path: Path) -> None:
    def loose(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("loose")
        info.mode = 0o6777
        tar.addfile(info, io.BytesIO())

    crafted(at, loose).unpack(tmp_path / "tree", Disk())
    assert (tmp_path / "tree/loose").stat().st_mode & 0o7777 == 0o755


def test_a_look_at_what_is_no_release_says_so(at: Bench, tmp_path: Path) -> None:
    (tmp_path / "x.release").write_bytes(b"no")
    assert look(tmp_path / "x.release") is None
    assert look(tmp_path / "gone.release") is None
    found = look(at.shop.make("0.1.0"))
    assert found is not None
    assert found.version == "0.1.0"
