"""A signed archive is split into its parts before any of them is trusted."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.archive_parts import MOST_MANIFEST_BYTES, MOST_SIGNATURE_BYTES, open_parts
from appliance.update.handed_over_file import HandedOverFile

MOST = 1 << 20
NAMES = ("m.json", "m.json.sig", "rest")


def packed(path: Path, **changed: bytes | None) -> Path:
    """An archive of three parts. `changed`: other content for a part, or None for a link in its
    place."""
    with tarfile.open(path, "w") as tar:
        for name in NAMES:
            data = changed.get(name.split(".")[-1], name.encode())
            member = tarfile.TarInfo(name)
            if data is None:
                member.type, member.linkname = tarfile.SYMTYPE, "m.json"
            else:
                member.size = len(data)
            tar.addfile(member, io.BytesIO(data or b""))
    return path


def test_manifest_and_signature_are_read_and_the_other_parts_can_be_read(tmp_path: Path) -> None:
    with HandedOverFile(packed(tmp_path / "a"), MOST) as file:
        manifest, signature, (rest,) = open_parts(file, "release", *NAMES)
        assert (manifest, signature, file.read(*rest)) == (b"m.json", b"m.json.sig", b"rest")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"json": bytes(MOST_MANIFEST_BYTES + 1)}, "a is no release: its manifest is too large."),
        ({"sig": bytes(MOST_SIGNATURE_BYTES + 1)}, "a is no release: its manifest is too large."),
        ({"rest": None}, "a is no release: a part of it is not a regular file."),
    ],
)
def test_an_archive_with_an_invalid_part_is_refused(
    tmp_path: Path, changed: dict[str, bytes | None], problem: str
) -> None:
    with (
        HandedOverFile(packed(tmp_path / "a", **changed), MOST) as file,
        pytest.raises(ReleaseRefused) as refused,
    ):
        open_parts(file, "release", *NAMES)
    assert refused.value.problem == problem


@pytest.mark.parametrize("names", [NAMES[::-1], (*NAMES, "more"), ("other", *NAMES[1:])])
def test_an_archive_with_other_parts_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    with (
        HandedOverFile(packed(tmp_path / "a"), MOST) as file,
        pytest.raises(ReleaseRefused, match=r"a is no release\."),
    ):
        open_parts(file, "release", *names)


@pytest.mark.parametrize("kept", [0, 100, 600, 1200])
def test_a_truncated_archive_is_refused(tmp_path: Path, kept: int) -> None:
    complete = packed(tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(complete[:kept])
    with (
        HandedOverFile(tmp_path / "a", MOST) as file,
        pytest.raises(ReleaseRefused, match="a is no release"),
    ):
        open_parts(file, "release", *NAMES)
