"""Archives that were made to do harm, and signed by somebody whom the box trusts."""

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
from appliance.update.release.manifest import NAME, ReleaseManifest
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


def together(*fills: Fill) -> Fill:
    def fill(tar: tarfile.TarFile) -> None:
        for one in fills:
            one(tar)

    return fill


def folders(*names: str) -> Fill:
    return together(*(member(name, tarfile.DIRTYPE) for name in names))


ESCAPES: dict[str, Fill] = {
    # Each target is inside by its words, and outside by where the link before it leads.
    "a file below a link that goes up from the target of another": together(
        folders("a", "a/b", "a/b/c"),
        member("a/b/c/s", tarfile.SYMTYPE, "../../.."),
        member("t", tarfile.SYMTYPE, "a/b/c/s/.."),
        member("t/escaped", data=b"x"),
    ),
    "a link that goes up from the target of another": together(
        folders("a", "a/b", "a/b/c"),
        member("a/b/c/s", tarfile.SYMTYPE, "../../.."),
        member("t", tarfile.SYMTYPE, "a/b/c/s/.."),
    ),
    "the same, in the other order": together(
        folders("a", "a/b", "a/b/c"),
        member("t", tarfile.SYMTYPE, "a/b/c/s/../escaped"),
        member("a/b/c/s", tarfile.SYMTYPE, "../../.."),
    ),
    "a file below a link to a folder inside": together(
        folders("lib"), member("t", tarfile.SYMTYPE, "lib"), member("t/escaped", data=b"x")
    ),
    "a folder below a link": together(
        folders("lib"), member("t", tarfile.SYMTYPE, "lib"), folders("t/escaped")
    ),
    "a link below a link": together(
        folders("a", "a/b"),
        member("t", tarfile.SYMTYPE, "a/b"),
        member("t/u", tarfile.SYMTYPE, "../.."),
    ),
    "a file in place of a link": together(
        member("t", tarfile.SYMTYPE, "../escaped"), member("t", data=b"x")
    ),
    "a file written through a link of the same name": together(
        folders("lib"), member("t", tarfile.SYMTYPE, "lib/x"), member("t", data=b"x")
    ),
    "a link in place of a folder": together(
        folders("t"), member("t", tarfile.SYMTYPE, "."), member("t/escaped", data=b"x")
    ),
    "a folder in place of a link": together(member("t", tarfile.SYMTYPE, "."), folders("t")),
    "a file in no folder": member("lib/x", data=b"x"),
    "the same file twice": together(member("x", data=b"1"), member("x", data=b"2")),
    "a file in place of the tree itself": member(".", data=b"x"),
    "a link in place of the tree itself": member("./", tarfile.SYMTYPE, "lib"),
    "an empty link": member("t", tarfile.SYMTYPE, ""),
    "a file of another kind": member("t", tarfile.CONTTYPE, data=b"x"),
}


@pytest.mark.parametrize("how", ESCAPES)
def test_nothing_lies_or_leads_outside_by_way_of_links(at: Bench, tmp_path: Path, how: str) -> None:
    tree = crafted(at, ESCAPES[how])
    place = tmp_path / "deep" / "tree"
    with pytest.raises(ReleaseRefused):
        tree.unpack(place, Disk())
    assert list(tmp_path.rglob("escaped*")) == []
    assert [path.name for path in place.parent.iterdir()] == ["tree"]
    assert not (place / NAME).exists()


def test_a_sparse_member_is_refused(at: Bench, tmp_path: Path) -> None:
    """Its size on the disk is not what the manifest counts."""

    def fill(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("hole")
        info.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "1000000000000"}
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))

    tree = crafted(at, fill, files_bytes=1 << 41)
    with pytest.raises(ReleaseRefused):
        tree.unpack(tmp_path / "tree", Disk())


@pytest.mark.parametrize("target", ["../../bin/x", "../../newest/x", "deeper", "..", "../.."])
def test_a_link_that_goes_up_only_at_its_beginning_stays_inside(
    at: Bench, tmp_path: Path, target: str
) -> None:
    """One that leads to another link, or to nothing, does no harm: each of them stays inside."""
    fill = together(
        folders("bin", "lib", "lib/deep"),
        member("newest", tarfile.SYMTYPE, "bin"),
        member("lib/deep/t", tarfile.SYMTYPE, target),
    )
    crafted(at, fill).unpack(tmp_path / "tree", Disk())
    inside = (tmp_path / "tree").resolve()
    assert (tmp_path / "tree/lib/deep/t").resolve().is_relative_to(inside)


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


def test_the_copy_has_no_name_and_only_root_could_open_it(at: Bench, tmp_path: Path) -> None:
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
def test_what_lies_where_the_copy_goes_is_neither_followed_nor_written(
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


def test_of_what_nobody_trusted_signed_not_a_byte_is_written(at: Bench) -> None:
    """And nothing of its manifest is understood, or repeated in a sentence."""

    class Untouched(Disk):
        def nameless(self, path: Path) -> BinaryIO:
            raise AssertionError(path)

    file = at.shop.make("0.1.0", key=at.shop.new_key("stranger"))
    file.write_bytes(file.read_bytes().replace(b'"machine"', b'"rumours"'))
    with pytest.raises(ReleaseRefused, match="not signed") as refused:
        at.installer(Untouched()).install(file)
    assert "rumours" not in str(refused.value)


def test_a_look_at_what_is_no_release_says_so(at: Bench, tmp_path: Path) -> None:
    (tmp_path / "x.release").write_bytes(b"no")
    assert RELEASE.peek(tmp_path / "x.release") is None
    assert RELEASE.peek(tmp_path / "gone.release") is None
    found = RELEASE.peek(at.shop.make("0.1.0"))
    assert found is not None
    assert found.version == "0.1.0"
