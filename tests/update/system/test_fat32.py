"""Small files of a FAT32 file system, read and written without a mount and compared with mtools."""

from __future__ import annotations

import contextlib
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.update.system.block_device import BlockDevice, ImageDisk
from appliance.update.system.fat32 import FatFileSystem
from tests.update.system.workshop import FAT_MIB, Foundry, copy_sparse, fat

pytestmark = pytest.mark.process

FILES = {
    "autoboot.txt": b"boot_partition=2\n",
    "user-data": b"#cloud-config\nhostname: kitchen\n" * 40,  # three clusters, and a long name
    "network-config": b"password: secret\n",
    "A Very Long Name Indeed.yaml": b"x: 1\n",
    "EMPTY.TXT": b"",
}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fat(tmp_path_factory.mktemp("fat") / "pristine.fat", FILES)


@pytest.fixture
def image(pristine: Path, tmp_path: Path) -> Path:
    copy_sparse(pristine, tmp_path / "fat.img")
    return tmp_path / "fat.img"


@contextlib.contextmanager
def opened(image: Path, begin: int = 0) -> Iterator[BlockDevice]:
    with ImageDisk(image, {"x": (begin, FAT_MIB << 20)}).part("x") as part:
        yield part


def mtools_reads(image: Path, name: str) -> bytes | None:
    done = subprocess.run(["mtype", "-i", image, f"::{name}"], capture_output=True, check=False)
    return None if done.returncode else done.stdout


def test_every_file_is_read_as_it_was_written(image: Path) -> None:
    with opened(image) as part:
        found = FatFileSystem(part)
        assert {file.name for file in found.files()} == set(FILES)
        assert {name: found.read(name) for name in FILES} == FILES
        assert found.read("USER-DATA") == FILES["user-data"]
        assert found.read("none") is None


def test_mtools_reads_a_replaced_file(image: Path) -> None:
    with opened(image) as part:
        FatFileSystem(part).replace("autoboot.txt", b"boot_partition=3\n")
    assert mtools_reads(image, "autoboot.txt") == b"boot_partition=3\n"
    assert mtools_reads(image, "user-data") == FILES["user-data"]


@pytest.mark.parametrize(
    ("name", "data"), [("autoboot.txt", b"longer than before\n"), ("user-data", b"x"), ("no", b"")]
)
def test_a_file_of_another_length_or_name_cannot_be_replaced(
    image: Path, name: str, data: bytes
) -> None:
    before = image.read_bytes()
    with opened(image) as part, pytest.raises(StorageError):
        FatFileSystem(part).replace(name, data)
    assert image.read_bytes() == before


def test_wiping_a_file_leaves_none_of_its_bytes(image: Path) -> None:
    with opened(image) as part:
        FatFileSystem(part).wipe("user-data")
        FatFileSystem(part).wipe("network-config")
        FatFileSystem(part).wipe("network-config")
    assert b"secret" not in image.read_bytes()
    assert b"kitchen" not in image.read_bytes()
    assert mtools_reads(image, "user-data") is None
    assert mtools_reads(image, "autoboot.txt") == FILES["autoboot.txt"]


def test_wiping_free_space_removes_the_remains_of_deleted_files_only(
    image: Path, tmp_path: Path
) -> None:
    (tmp_path / "network-config").write_bytes(b"another\n")
    subprocess.run(["mdel", "-i", image, "::network-config"], check=True)  # an editor does so
    subprocess.run(["mcopy", "-i", image, tmp_path / "network-config", "::"], check=True)
    assert b"secret" in image.read_bytes()
    with opened(image) as part:
        FatFileSystem(part).wipe_free()
        kept = {name: FatFileSystem(part).read(name) for name in FILES}
    assert b"secret" not in image.read_bytes()
    assert kept == {**FILES, "network-config": b"another\n"}
    assert mtools_reads(image, "user-data") == FILES["user-data"]


def test_fsck_finds_no_error_after_wiping_files(image: Path) -> None:
    with opened(image) as part:
        for name in ("user-data", "A Very Long Name Indeed.yaml", "EMPTY.TXT"):
            FatFileSystem(part).wipe(name)
    done = subprocess.run(["fsck.vfat", "-n", image], capture_output=True, text=True, check=False)
    # fsck compares a count of free clusters, which is only a hint and is not kept up to date.
    assert "different" not in done.stdout.replace("Free cluster summary", "")
    assert "Orphaned" not in done.stdout
    assert "reclaimed" not in done.stdout.lower()


def test_a_file_system_inside_a_disk_image_is_read(image: Path, tmp_path: Path) -> None:
    disk_image = tmp_path / "disk.img"
    with disk_image.open("wb") as file:
        file.seek(1 << 20)
        file.write(image.read_bytes())
    with opened(disk_image, begin=1 << 20) as part:
        assert FatFileSystem(part).read("autoboot.txt") == FILES["autoboot.txt"]


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_file_system_is_reported_and_never_loops_forever(image: Path, seed: int) -> None:
    chance = random.Random(seed)
    data = image.read_bytes()[: 1 << 20]
    with image.open("r+b") as file:
        for _ in range(200):
            file.seek(chance.randrange(len(data)) if seed % 2 else chance.randrange(512))
            file.write(chance.randbytes(1))
    with opened(image) as part, contextlib.suppress(StorageError):
        for file_ in FatFileSystem(part).files():
            FatFileSystem(part).read(file_.name)


def test_zeros_are_no_fat_file_system(tmp_path: Path, made: Foundry) -> None:
    zeros = tmp_path / "zeros"
    with zeros.open("wb") as file:
        file.truncate(FAT_MIB << 20)
    with opened(zeros) as part, pytest.raises(StorageError, match="no FAT"):
        FatFileSystem(part)
