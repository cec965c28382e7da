"""The order of versions, and whether a manifest fits this box."""

from __future__ import annotations

import itertools
import platform
import sys

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.release.manifest import ReleaseManifest
from appliance.update.signed_manifest import (
    CLOCK_SLACK_S,
    LAST_S,
    SignedManifest,
    fits,
    parse_manifest,
    version_key,
)

MADE_S = 1_780_000_000


def test_versions_are_ordered() -> None:
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
def test_an_invalid_version_is_refused(version: str) -> None:
    with pytest.raises(ReleaseRefused, match="is no version"):
        version_key(version)


class Song(SignedManifest, frozen=True):
    """A kind of archive for these tests."""

    verses: int


def test_a_kind_has_its_own_fields_beside_the_common_ones() -> None:
    song = Song(version="1.0.0", machine="any", made_s=MADE_S, verses=3)
    assert parse_manifest(song.encode(), Song, "song.json") == song


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"version":"1.0.0","machine":"any","made_s":1}',
        b'{"version":"1.0.0","machine":"any","made_s":1,"verses":3,"more":1}',
        b'{"version":"1.0","machine":"any","made_s":1,"verses":3}',
        b'{"version":"1.0.0","machine":"any","made_s":-1,"verses":3}',
        b'{"version":"1.0.0","machine":"any","made_s":%d,"verses":3}' % (LAST_S + 1),
        b'{"version":"1.0.0","machine":"\xff","made_s":1,"verses":3}',
        b'{"version":' + b"[" * 60_000,
    ],
)
def test_a_manifest_with_missing_wrong_or_further_fields_is_refused(data: bytes) -> None:
    with pytest.raises(ReleaseRefused, match=r"no manifest of a song|is no version"):
        parse_manifest(data, Song, "song.json", "of a song")


def release(**changed: object) -> ReleaseManifest:
    fields: dict[str, object] = {
        "version": "1.2.3", "machine": "any", "python": "any", "made_s": MADE_S,
        "tree_sha256": "0" * 64, "tree_bytes": 1, "files_bytes": 1, **changed,
    }  # fmt: skip
    return ReleaseManifest(**fields)  # type: ignore[arg-type]


PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.mark.parametrize(
    ("manifest", "kept", "downgrade"),
    [
        (release(), None, False),
        (release(machine=platform.machine(), python=PYTHON), "1.2.3", False),
        (release(), "1.2.4", True),
        (release(made_s=MADE_S + int(CLOCK_SLACK_S)), None, False),
    ],
)
def test_a_manifest_for_this_box_that_is_not_older_fits(
    manifest: ReleaseManifest, kept: str | None, downgrade: bool
) -> None:
    fits(manifest, kept, downgrade=downgrade, now_s=MADE_S)


@pytest.mark.parametrize(
    ("manifest", "kept", "why"),
    [
        (release(machine="riscv64"), None, "made for riscv64"),
        (release(python="2.7"), None, "made for Python 2.7"),
        (release(), "1.2.4", "older than 1.2.4"),
        (release(made_s=MADE_S + int(CLOCK_SLACK_S) + 1), None, "clock says"),
    ],
)
def test_a_manifest_for_another_box_an_older_one_and_one_from_the_future_do_not_fit(
    manifest: ReleaseManifest, kept: str | None, why: str
) -> None:
    with pytest.raises(ReleaseRefused, match=why):
        fits(manifest, kept, downgrade=False, now_s=MADE_S)
