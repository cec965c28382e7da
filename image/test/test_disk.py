"""The disk image, read back with the tools that read disks."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest

from image import disk, layout
from image.bmap import block_map

IDENTITY = "00000000-0000-4000-8000-000000000001"
TIME_S = 1_780_000_000


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "boot").mkdir()
    (folder / "boot/autoboot.txt").write_text(layout.autoboot("a"))
    (folder / "boot/kernel_2712.img").write_bytes(b"kernel" * 10_000)
    (folder / "tree/etc").mkdir(parents=True)
    (folder / "tree/etc/hostname").write_text("interlude\n")
    disk.fat(folder / "bootconfig.fat", "bootconfig", folder / "boot", 40)
    disk.erofs(folder / "system.erofs", folder / "tree", TIME_S, IDENTITY)
    disk.ext4(folder / "data.ext4", "data", 64)
    return {
        "bootconfig": folder / "bootconfig.fat",
        "system_a": folder / "system.erofs",
        "data": folder / "data.ext4",
    }


@pytest.fixture(scope="module")
def image(parts: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("image") / "interlude.img"
    disk.assemble(path, parts, "0.1.0")
    return path


def test_every_partition_lies_where_the_table_says(image: Path) -> None:
    places = disk.offsets(image)
    assert list(places) == [row.name for row in layout.LAYOUT]
    assert places["bootconfig"] == layout.ALIGN_MIB << 20
    assert "No errors detected" in disk.tell("sfdisk", "--verify", image)


def test_all_fat_partitions_come_first() -> None:
    kinds = [row.holds == "fat" for row in layout.LAYOUT]
    assert kinds == sorted(kinds, reverse=True)


def test_what_was_put_in_is_what_is_there(image: Path, parts: dict[str, Path]) -> None:
    places = disk.offsets(image)
    with image.open("rb") as file:
        for name, part in parts.items():
            file.seek(places[name])
            assert file.read(part.stat().st_size) == part.read_bytes()


def test_the_firmwares_file_can_be_read_out_of_the_image(image: Path) -> None:
    place = disk.offsets(image)["bootconfig"]
    said = disk.tell("mtype", "-i", f"{image}@@{place}", "::autoboot.txt")
    assert said == layout.autoboot("a")
    assert "boot_partition=2\n[tryboot]\nboot_partition=3" in said


def test_the_same_parts_make_the_same_image(
    image: Path, parts: dict[str, Path], tmp_path: Path
) -> None:
    disk.assemble(tmp_path / "again.img", parts, "0.1.0")
    assert block_map(tmp_path / "again.img") == block_map(image)


def test_nothing_is_written_where_there_is_nothing(image: Path) -> None:
    assert image.stat().st_blocks * 512 < 64 << 20


def test_a_system_that_does_not_fit_is_said_so(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(41 << 20)
    with pytest.raises(disk.Misfit, match="has 41 MiB; the partition bootconfig has 40"):
        disk.assemble(tmp_path / "x.img", {"bootconfig": large}, "0.1.0")


def test_the_block_map_names_every_block_that_holds_anything(tmp_path: Path) -> None:
    small = tmp_path / "small.img"
    blocks = {0: b"a", 1: b"b", 5: b"c", 2000: b"d", 2001: b"\0", 2002: b"e", 4999: b"f"}
    with small.open("wb") as file:
        file.truncate(5000 * disk.BLOCK)
        for block, byte in blocks.items():
            file.seek(block * disk.BLOCK + 17)
            file.write(byte)
    text = block_map(small)
    data = small.read_bytes()
    named = re.findall(r'<Range chksum="(\w+)"> (\d+)(?:-(\d+))? </Range>', text)
    assert [(first, last) for _, first, last in named] == [
        ("0", "1"), ("5", ""), ("2000", ""), ("2002", ""), ("4999", "")
    ]  # fmt: skip
    for digest, first, last in named:
        run = data[int(first) * disk.BLOCK : (int(last or first) + 1) * disk.BLOCK]
        assert hashlib.sha256(run).hexdigest() == digest


def test_the_block_map_carries_its_own_sum(image: Path) -> None:
    text = block_map(image)
    own = re.search(r"<BmapFileChecksum> (\w{64}) <", text)
    assert own
    assert hashlib.sha256(text.replace(own[1], "0" * 64).encode()).hexdigest() == own[1]


def test_the_same_files_are_the_same_bytes_wherever_and_whenever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other file times, another order of creation and another time zone give the same image."""
    names = [f"opt/{word}" for word in ("beta", "Alpha", "gamma delta", "_")]
    made: list[list[bytes]] = []
    for order, zone, age_s in ((names, "UTC", 0), (names[::-1], "Asia/Kathmandu", 86_400)):
        monkeypatch.setenv("TZ", zone)
        tree = tmp_path / f"at{age_s}"
        (tree / "opt").mkdir(parents=True)
        for name in order:
            (tree / name).write_text(name)
            os.utime(tree / name, (TIME_S - age_s, TIME_S - age_s))
        (tree / "opt/link").symlink_to("beta")
        paths = [tmp_path / f"{kind}{age_s}" for kind in ("erofs", "ext4", "fat")]
        disk.erofs(paths[0], tree, TIME_S, IDENTITY)
        disk.ext4(paths[1], "data", 16, tree, time_s=TIME_S, identity=IDENTITY)
        for name in names:
            os.utime(tree / name, (TIME_S, TIME_S))  # mcopy copies the times, which boot.py sets
        (tree / "opt/link").unlink()
        disk.fat(paths[2], "boot_a", tree / "opt", 40)
        made.append([path.read_bytes() for path in paths])
    assert [len(set(each)) for each in zip(*made, strict=True)] == [1, 1, 1]


def test_an_ext4_of_one_time_is_whole(tmp_path: Path) -> None:
    (tmp_path / "tree/a folder").mkdir(parents=True)
    (tmp_path / "tree/a folder/file").write_text("x")
    path = tmp_path / "data"
    disk.ext4(path, "data", 16, tmp_path / "tree", time_s=TIME_S, identity=IDENTITY)
    disk.tell("e2fsck", "-fn", path)
    said = disk.tell("debugfs", "-R", 'stat "/a folder/file"', path)
    clocks = re.findall(r"^ ?(\w+time): (0x[0-9a-f]+):(\d+)", said, re.MULTILINE)
    assert clocks == [(name, f"{TIME_S:#x}", "00000000")
                      for name in ("ctime", "atime", "mtime", "crtime")]  # fmt: skip


def test_bmaptool_writes_a_card_by_it_and_finds_a_byte_that_is_another(tmp_path: Path) -> None:
    """As in docs/flash.md: bmaptool finds the map beside the packed image by itself."""
    small = tmp_path / "card.img"
    with small.open("wb") as file:
        file.write(os.urandom(3 * disk.BLOCK))
        file.truncate(4 << 20)
        file.seek(2 << 20)
        file.write(os.urandom(100_000))
        file.truncate(4 << 20)
    (tmp_path / "card.bmap").write_text(block_map(small))
    disk.tell("zstd", "-q", small, "-o", tmp_path / "card.img.zst")
    written = tmp_path / "written"
    disk.tell("bmaptool", "copy", tmp_path / "card.img.zst", written)
    assert written.read_bytes() == small.read_bytes()
    with small.open("r+b") as file:
        file.seek(2 << 20)
        file.write(b"another")
    disk.tell("zstd", "-q", "-f", small, "-o", tmp_path / "card.img.zst")
    with pytest.raises(disk.Misfit, match="checksum"):
        disk.tell("bmaptool", "copy", tmp_path / "card.img.zst", written)
