"""Valid and invalid manifests of releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.archive_parts import MOST_MANIFEST_BYTES
from appliance.update.release.manifest import ReleaseManifest, parse, read

GOOD = ReleaseManifest(
    version="1.2.3",
    machine="aarch64",
    python="3.13",
    made_s=1_780_000_000,
    tree_sha256="0" * 64,
    tree_bytes=1,
    files_bytes=1,
)


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert parse(GOOD.encode()) == GOOD
    assert len(GOOD.encode()) < MOST_MANIFEST_BYTES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"1.2.3"', b'"../../etc"'),
        (b'"1.2.3"', b"123"),
        (b'"made_s": 1780000000', b'"made_s": -1'),
        (b'"0000', b'"00zz'),
        (b'"machine"', b'"engine"'),
        (b"}", b',"more": 1}'),
        (b"{", b"["),
        (b'"aarch64"', b'"\xff"'),
        (b'"aarch64"', b"[" * 60_000),
    ],
)
def test_an_invalid_manifest_is_refused(old: bytes, new: bytes) -> None:
    with pytest.raises(ReleaseRefused):
        parse(GOOD.encode().replace(old, new))


def test_a_folder_without_a_manifest_is_no_release(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    (tmp_path / "release.json").write_bytes(GOOD.encode())
    assert read(tmp_path) == GOOD
