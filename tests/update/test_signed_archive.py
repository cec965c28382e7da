"""A signed archive is opened by the rules of its kind; an archive of another kind is refused."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update import signature
from appliance.update.archive_parts import sign_archive, write_parts
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release.archive import RELEASE
from appliance.update.signed_archive import ArchiveKind
from appliance.update.signed_manifest import SignedManifest, parse_manifest
from tests.update.release.workshop import Bench

pytestmark = pytest.mark.process


class Song(SignedManifest, frozen=True):
    """A kind of archive for these tests."""


def parse(data: bytes) -> Song:
    return parse_manifest(data, Song, "song.json", "of a song")


SONGS = ArchiveKind("song", ".song", 1 << 20, "song.json", parse, ("words", "notes"))
SONG = Song(version="1.0.0", machine="any", made_s=1)


def made(at: Bench, manifest: bytes = SONG.encode(), key: Path | None = None) -> Path:
    path = at.shop.folder / "a.song"
    contents = (io.BytesIO(b"la la"), io.BytesIO(b"c d e"))
    write_parts(path, SONGS.parts, manifest, 1, *contents)
    sign_archive(path, key or at.shop.key)
    return path


def test_a_signed_archive_is_opened_with_its_contents(at: Bench) -> None:
    with HandedOverFile(made(at), SONGS.most_bytes) as handed:
        manifest, data, signatures, (words, notes) = SONGS.open(handed, at.shop.signers)
        assert manifest == SONG
        assert data == SONG.encode()
        signature.verify(data, signatures, at.shop.signers)
        assert (handed.read(*words), handed.read(*notes)) == (b"la la", b"c d e")
    assert SONGS.peek(made(at)) == SONG


def test_nothing_of_an_untrusted_archive_is_repeated(at: Bench) -> None:
    stranger = at.shop.new_key("stranger")
    path = made(at, b'{"oh": "\xff dear"}', stranger)
    with (
        HandedOverFile(path, SONGS.most_bytes) as handed,
        pytest.raises(ReleaseRefused, match="is not signed") as refused,
    ):
        SONGS.open(handed, at.shop.signers)
    assert "dear" not in str(refused.value)
    assert SONGS.peek(path) is None


def test_an_archive_of_another_kind_is_refused_and_has_no_manifest(at: Bench) -> None:
    release = at.shop.make("0.1.0")
    assert SONGS.peek(release) is None
    assert RELEASE.peek(made(at)) is None
    with (
        HandedOverFile(release, RELEASE.most_bytes) as handed,
        pytest.raises(ReleaseRefused, match="is no song"),
    ):
        SONGS.open(handed, at.shop.signers)


def test_peek_returns_none_for_a_missing_or_too_large_file(at: Bench, tmp_path: Path) -> None:
    assert SONGS.peek(tmp_path / "gone.song") is None
    small = ArchiveKind("song", ".song", 100, "song.json", parse, ("words", "notes"))
    assert small.peek(made(at)) is None
