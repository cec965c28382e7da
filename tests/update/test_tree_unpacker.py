"""Unpacking a tree: no member is placed outside its folder, and no link points out of it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.release.disk_changes import Disk
from appliance.update.release.manifest import NAME
from appliance.update.tree_unpacker import TreeUnpacker

Fill = Callable[[tarfile.TarFile], None]


def unpack(fill: Fill, folder: Path) -> None:
    """Unpack each member of a tree, in order, into a new folder."""
    packed, disk = io.BytesIO(), Disk()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        fill(tar)
    packed.seek(0)
    disk.make_folder(folder)
    members = TreeUnpacker(NAME)
    with tarfile.open(fileobj=packed, mode="r|") as tree:
        for entry in tree:
            members.unpack(tree, entry, folder, disk)


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
    ],
)
def test_members_that_escape_from_the_tree_or_are_no_files_are_refused(
    tmp_path: Path, fill: Fill
) -> None:
    with pytest.raises(ReleaseRefused):
        unpack(fill, tmp_path / "tree")
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "tree" / NAME).exists()


def together(*fills: Fill) -> Fill:
    def fill(tar: tarfile.TarFile) -> None:
        for add in fills:
            add(tar)

    return fill


def folders(*names: str) -> Fill:
    return together(*(member(name, tarfile.DIRTYPE) for name in names))


ESCAPES: dict[str, Fill] = {
    # Each link target is inside the tree as text, but outside once earlier links are resolved.
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
def test_no_combination_of_links_escapes_from_the_tree(tmp_path: Path, how: str) -> None:
    place = tmp_path / "deep" / "tree"
    with pytest.raises(ReleaseRefused):
        unpack(ESCAPES[how], place)
    assert list(tmp_path.rglob("escaped*")) == []
    assert [path.name for path in place.parent.iterdir()] == ["tree"]
    assert not (place / NAME).exists()


def test_a_sparse_member_is_refused(tmp_path: Path) -> None:
    """Its size on the disk differs from the size that the manifest counts."""

    def fill(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("hole")
        info.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "1000000000000"}
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))

    with pytest.raises(ReleaseRefused):
        unpack(fill, tmp_path / "tree")


@pytest.mark.parametrize("target", ["../../bin/x", "../../newest/x", "deeper", "..", "../.."])
def test_a_link_with_leading_parent_steps_only_stays_inside(tmp_path: Path, target: str) -> None:
    """A link to another link, or to nothing, is harmless, because each link stays inside."""
    fill = together(
        folders("bin", "lib", "lib/deep"),
        member("newest", tarfile.SYMTYPE, "bin"),
        member("lib/deep/t", tarfile.SYMTYPE, target),
    )
    unpack(fill, tmp_path / "tree")
    inside = (tmp_path / "tree").resolve()
    assert (tmp_path / "tree/lib/deep/t").resolve().is_relative_to(inside)


def test_a_link_to_another_folder_of_the_tree_is_accepted(tmp_path: Path) -> None:
    def fill(tar: tarfile.TarFile) -> None:
        member("lib", tarfile.DIRTYPE)(tar)
        member("lib/link", tarfile.SYMTYPE, "../bin/there")(tar)

    unpack(fill, tmp_path / "tree")
    assert (tmp_path / "tree/lib/link").readlink() == Path("../bin/there")


def test_unpacked_files_are_writable_by_their_owner_only_and_not_setuid(tmp_path: Path) -> None:
    def loose(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("loose")
        info.mode = 0o6777
        tar.addfile(info, io.BytesIO())

    unpack(loose, tmp_path / "tree")
    assert (tmp_path / "tree/loose").stat().st_mode & 0o7777 == 0o755


def test_files_and_folders_are_unpacked_unchanged(tmp_path: Path) -> None:
    fill = together(
        folders("bin", "lib"), member("bin/x", data=b"run"), member("lib/y", data=b""),
        member("lib/z", data=b"\0" * 100_000),
    )  # fmt: skip
    unpack(fill, tmp_path / "tree")
    found = {
        path.name: path.read_bytes() for path in (tmp_path / "tree").rglob("*") if path.is_file()
    }
    assert found == {"x": b"run", "y": b"", "z": b"\0" * 100_000}
