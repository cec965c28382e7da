"""Versions in order, and manifests that are none."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.release.manifest import MOST_BYTES, ReleaseManifest, parse, read, version_key

GOOD = ReleaseManifest(
    version="1.2.3",
    machine="aarch64",
    python="3.13",
    made_s=1_780_000_000,
    tree_sha256="0" * 64,
    tree_bytes=1,
    files_bytes=1,
)


def test_versions_stand_in_the_order_of_their_making() -> None:
    order = [
        "0.1.0a1",
        "0.1.0b1",
        "0.1.0rc1",
        "0.1.0rc2",
        "0.1.0",
        "0.1.1",
        "0.2.0",
        "0.10.0",
        "1.0.0",
    ]
    keys = [version_key(version) for version in order]
    assert all(a < b for a, b in itertools.pairwise(keys))


@pytest.mark.parametrize(
    "version", ["", "1", "1.2", "1.2.3.4", "v1.2.3", "1.2.3-rc1", "1.2.3\n", "../1.2.3", "١.٢.٣x"]
)
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(ReleaseRefused, match="is no version"):
        version_key(version)


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert parse(GOOD.encode()) == GOOD
    assert len(GOOD.encode()) < MOST_BYTES


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
    ],
)
def test_a_manifest_that_is_wrong_is_refused(old: bytes, new: bytes) -> None:
    with pytest.raises(ReleaseRefused):
        parse(GOOD.encode().replace(old, new))


def test_a_folder_without_a_manifest_is_no_release(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    (tmp_path / "release.json").write_bytes(GOOD.encode())
    assert read(tmp_path) == GOOD
