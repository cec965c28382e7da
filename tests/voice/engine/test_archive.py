"""Bundles and releases have the same kind of signature, and neither is accepted as the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.archive_parts import sign_archive
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release.archive import ReleaseArchive
from appliance.update.release.pack import pack as pack_release
from appliance.voice.engine.archive import EngineArchive
from tests.update.release.workshop import MADE_S
from tests.voice.engine.workshop import Bench

pytestmark = pytest.mark.process


def test_neither_kind_of_archive_is_accepted_as_the_other(bench: Bench) -> None:
    """The signature covers only the manifest: it is still valid under the other's file name."""
    tree = bench.workshop.folder / "tree"
    tree.mkdir()
    release = pack_release(tree, bench.workshop.folder, version="0.2.0",
                           machine="any", python="any", made_s=MADE_S)  # fmt: skip
    sign_archive(release, bench.workshop.key)
    bundle = bench.make("0.2.0")
    for file, old, new, kind in (
        (release, b"release.json", b"voice.json", EngineArchive),
        (bundle, b"voice.json", b"release.json", ReleaseArchive),
    ):
        wrapped = _renamed(file, old, new)
        with (
            HandedOverFile(wrapped, 1 << 20) as handed,
            pytest.raises(ReleaseRefused, match="no manifest"),
        ):
            kind(handed, bench.workshop.signers)


def _renamed(file: Path, old: bytes, new: bytes) -> Path:
    """The archive with its manifest's files renamed and the tar headers' checksums corrected."""
    data = bytearray(file.read_bytes())
    at = 0
    while at < len(data) and data[at]:
        header = data[at : at + 512]
        name = bytes(header[:100]).rstrip(b"\0").replace(old, new)
        header[:100] = name.ljust(100, b"\0")
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        data[at : at + 512] = header
        size = int(header[124:135], 8)
        at += 512 + -(-size // 512) * 512
    wrapped = file.with_suffix(".wrapped")
    wrapped.write_bytes(data)
    return wrapped
