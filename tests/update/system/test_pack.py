"""A system archive omits the part of the boot partition after the last file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.system.archive import SYSTEM_ARCHIVE
from appliance.update.system.manifest import SystemManifest
from appliance.update.system.pack import BLOCK, pack
from tests.update.release.workshop import MADE_S, Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    (tmp_path / "shop").mkdir()
    return Workshop(tmp_path / "shop")


def packed(shop: Workshop, boot: bytes, system: bytes) -> tuple[Path, SystemManifest]:
    for name, data in (("boot", boot), ("system", system)):
        (shop.folder / name).write_bytes(data)
    file = pack(shop.folder / "boot", shop.folder / "system", shop.folder,
                version="0.2.0", machine="any", made_s=MADE_S)  # fmt: skip
    manifest = SYSTEM_ARCHIVE.peek(file)
    assert manifest is not None
    return file, manifest


@pytest.mark.process
@pytest.mark.parametrize(
    ("boot", "kept"),
    [
        (b"x" * 10 + bytes(50_000), BLOCK), (bytes(BLOCK) + b"x" + bytes(9 * BLOCK), 2 * BLOCK),
        (bytes(3 * BLOCK), BLOCK), (b"x" * 2 * BLOCK, 2 * BLOCK),
    ],
)  # fmt: skip
def test_a_boot_partition_is_packed_in_whole_blocks_up_to_its_last_nonzero_byte(
    shop: Workshop, boot: bytes, kept: int
) -> None:
    _, manifest = packed(shop, boot, b"root" * 100)
    assert manifest.boot.bytes == kept
    assert manifest.boot.sha256 == hashlib.sha256(boot[:kept]).hexdigest()


@pytest.mark.process
def test_a_root_partition_is_packed_with_every_byte_including_zeros(shop: Workshop) -> None:
    system = b"root" + bytes(10_001)
    file, manifest = packed(shop, b"x" * BLOCK, system)
    assert (manifest.system.bytes, manifest.system.sha256) == (
        len(system), hashlib.sha256(system).hexdigest(),
    )  # fmt: skip
    assert file.name == "interlude-0.2.0-any.system"


def test_an_invalid_version_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    none = tmp_path / "none"
    with pytest.raises(ReleaseRefused, match="is no version"):
        pack(none, none, tmp_path, version="../1", machine="any", made_s=MADE_S)
