"""The data partition grows to the end of the card, with the real sfdisk and resize2fs on image
files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.provision.growpart import SECTOR, PartitionPlace, command, find, grow, resize

pytestmark = pytest.mark.process

MIB = 1 << 20
TABLE = (
    'label: gpt\nfirst-lba: 2048\nstart=2048, size=2048, name="boot_a"\nsize=8192, name="data"\n'
)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A card of 64 MiB with an image of 8 MiB."""
    image = tmp_path / "card.img"
    with image.open("wb") as file:
        file.truncate(8 * MIB)
    command(["sfdisk", "--quiet", str(image)], TABLE)
    with image.open("r+b") as file:
        file.truncate(64 * MIB)
    return image


def rows(image: Path) -> list[tuple[str, int, int]]:
    table = json.loads(command(["sfdisk", "--json", str(image)], ""))["partitiontable"]
    return [(row["name"], row["start"], row["size"]) for row in table["partitions"]]


def place(image: Path, device: Path) -> PartitionPlace:
    _, start, size = rows(image)[1]
    return PartitionPlace(device, image, 2, start, size, image.stat().st_size // SECTOR)


def test_partition_and_file_system_fill_the_card_and_keep_their_data(
    disk: Path, tmp_path: Path
) -> None:
    device = tmp_path / "data.ext4"
    (tmp_path / "files").mkdir()
    (tmp_path / "files/kept").write_text("as it was")
    command(["mke2fs", "-q", "-t", "ext4", "-d", str(tmp_path / "files"), str(device), "4M"], "")
    programs: list[str] = []

    def run(words: list[str], text: str) -> str:
        programs.append(words[0])
        if words[0] == "partx":  # like the kernel: the partition gets the size of the table
            with device.open("r+b") as file:
                file.truncate(rows(disk)[1][2] * SECTOR)
            return ""
        if words[0] == "resize2fs":
            subprocess.run(["e2fsck", "-fp", device], capture_output=True, check=False)
        return command(words, text)

    before = rows(disk)
    assert grow(place(disk, device), run)
    after = rows(disk)
    assert after[0] == before[0]
    assert after[1][:2] == before[1][:2]
    assert after[1][2] > 60 * MIB // SECTOR
    assert "No errors detected" in command(["sfdisk", "--verify", str(disk)], "")
    dump = command(["dumpe2fs", "-h", str(device)], "")
    blocks = next(line.split()[-1] for line in dump.splitlines() if "Block count" in line)
    assert int(blocks) * 1024 > 55 * MIB
    assert "as it was" in device.read_bytes().decode("latin-1")
    assert programs == ["sfdisk", "partx", "resize2fs"]
    assert not grow(place(disk, device), run)
    assert programs[3:] == ["resize2fs"]
    assert rows(disk) == after


def test_an_interrupted_partition_table_is_repaired_by_the_next_start(
    disk: Path, tmp_path: Path
) -> None:
    """sfdisk writes the backup table at the end, then the entries, then the header. Each prefix is
    tried."""
    old = disk.read_bytes()
    expected = tmp_path / "meant.img"
    expected.write_bytes(old)
    resize(expected, 2, command)
    new = expected.read_bytes()
    sectors = [
        at for at in range(0, len(old), SECTOR) if old[at : at + SECTOR] != new[at : at + SECTOR]
    ]
    order = sorted(sectors, key=lambda at: (at < MIB, at < 2 * SECTOR, at == 0, at))
    assert len(order) >= 4
    for cut in range(len(order) + 1):
        data = bytearray(old)
        for at in order[:cut]:
            data[at : at + SECTOR] = new[at : at + SECTOR]
        disk.write_bytes(data)
        assert [row[:2] for row in rows(disk)] == [row[:2] for row in rows(expected)]
        resize(disk, 2, command)
        assert rows(disk) == rows(expected), f"cut after {cut} of {len(order)}"
        assert "No errors detected" in command(["sfdisk", "--verify", str(disk)], "")


def test_the_place_of_the_partition_is_read_from_sysfs(tmp_path: Path) -> None:
    own = tmp_path / "devices/mmcblk0/mmcblk0p6"
    own.mkdir(parents=True)
    for folder, name, value in (
        (own, "partition", 6), (own, "start", 6914048), (own, "size", 524288),
        (own.parent, "size", 62333952),
    ):  # fmt: skip
        (folder / name).write_text(f"{value}\n")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/mmcblk0p6").touch()
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels/data").symlink_to("../dev/mmcblk0p6")
    (tmp_path / "block").mkdir()
    (tmp_path / "block/mmcblk0p6").symlink_to(own)
    found = find(tmp_path / "labels", tmp_path / "block")
    assert (found.disk, found.number, found.start) == (Path("/dev/mmcblk0"), 6, 6914048)
    assert found.room == 62333952 - 34 - 6914048 - 524288
    with pytest.raises(StorageError, match="no partition `data`"):
        find(tmp_path / "none", tmp_path / "block")


def test_a_tool_that_fails_or_is_missing_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="sfdisk failed"):
        command(["sfdisk", "--json", str(tmp_path / "none")], "")
    with pytest.raises(StorageError, match="cannot be run"):
        command([str(tmp_path / "no-such-tool")], "")
