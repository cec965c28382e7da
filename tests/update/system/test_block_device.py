"""A partition as a range of bytes that never touches its neighbours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import StorageError
from appliance.update.system.block_device import BootDisk, FileBlockDevice, ImageDisk

SIZE = 4096


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "image"
    path.write_bytes(b"a" * SIZE + b"b" * SIZE + b"c" * SIZE)
    return path


@pytest.fixture
def part(image: Path) -> Iterator[FileBlockDevice]:
    """The partition in the middle."""
    fd = os.open(image, os.O_RDWR)
    yield FileBlockDevice(fd, "middle", SIZE, SIZE)
    os.close(fd)


def test_a_write_stays_within_its_partition(part: FileBlockDevice, image: Path) -> None:
    part.write(10, b"hello")
    part.flush()
    assert part.read(8, 9) == b"bbhellobb"
    data = image.read_bytes()
    assert (data[:SIZE], data[2 * SIZE :]) == (b"a" * SIZE, b"c" * SIZE)
    assert data[SIZE + 10 : SIZE + 15] == b"hello"


def test_a_read_at_the_end_returns_fewer_bytes_and_none_of_the_next_partition(
    part: FileBlockDevice,
) -> None:
    assert part.read(SIZE - 3, 10) == b"bbb"
    assert part.read(SIZE, 10) == b""


@pytest.mark.parametrize(("at", "length"), [(-1, 1), (SIZE, 1), (SIZE - 3, 4), (0, SIZE + 1)])
def test_a_write_beyond_either_end_fails_and_changes_nothing(
    part: FileBlockDevice, image: Path, at: int, length: int
) -> None:
    before = image.read_bytes()
    with pytest.raises(OSError, match="No space left"):
        part.write(at, b"x" * length)
    assert image.read_bytes() == before


@given(st.lists(st.tuples(st.integers(0, 63), st.binary(max_size=64)), max_size=20))
def test_any_sequence_of_writes_behaves_like_an_array(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[int, bytes]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-image"
    path.write_bytes(bytes(128))
    expected = bytearray(64)
    with path.open("r+b") as file:
        part = FileBlockDevice(file.fileno(), "any", 32, 64)
        for at, data in writes:
            if at + len(data) <= 64:
                part.write(at, data)
                expected[at : at + len(data)] = data
        assert part.read(0, 64) == bytes(expected)
    assert path.read_bytes() == bytes(32) + bytes(expected) + bytes(32)


def test_a_card_without_our_partitions_is_reported(tmp_path: Path) -> None:
    card = BootDisk(tmp_path)
    with pytest.raises(StorageError, match="no partition `boot_b`"), card.part("boot_b"):
        pass
    (tmp_path / "boot_b").mkdir()
    with pytest.raises(StorageError, match="cannot be opened"), card.part("boot_b"):
        pass


def test_a_partition_has_the_size_of_the_device_behind_its_label(tmp_path: Path) -> None:
    (tmp_path / "device").write_bytes(bytes(SIZE))
    (tmp_path / "boot_b").symlink_to("device")
    with BootDisk(tmp_path).part("boot_b") as part:
        assert (part.name, part.size) == ("boot_b", SIZE)


def test_the_partitions_of_an_image_begin_at_their_offsets(image: Path) -> None:
    disk = ImageDisk(image, {"boot": (0, SIZE), "system": (2 * SIZE, SIZE)})
    with disk.part("boot") as boot, disk.part("system") as system:
        assert (boot.read(0, 2), system.read(0, 2)) == (b"aa", b"cc")
        system.write(0, b"new")
    assert image.read_bytes()[2 * SIZE :].startswith(b"newc")
