"""The list for Raspberry Pi Imager: an entry has the required fields, with correct values."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from appliance.provision import seed_parsers
from image import imager

# doc/json-schema/os-list-schema.json, "Operating system entry": required
REQUIRED = {"name", "description", "icon", "url", "extract_size", "extract_sha256",
            "image_download_size", "release_date"}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    packed, image = tmp_path / "interlude.img.zst", tmp_path / "interlude.img"
    packed.write_bytes(b"packed")
    image.write_bytes(b"the card" * 64)
    return packed, image


def entry(files: tuple[Path, Path]) -> dict[str, Any]:
    said = json.loads(imager.manifest(*files, "0.1.0", 1_780_000_000))
    (about,) = said["os_list"]
    (board,) = said["imager"]["devices"]
    assert about["devices"] == board["tags"]
    return dict(about)


def test_imager_finds_what_it_checks_an_image_by(files: tuple[Path, Path]) -> None:
    about = entry(files)
    assert set(about) >= REQUIRED
    assert about["extract_sha256"] == sha256(files[1].read_bytes()).hexdigest()
    assert (about["extract_size"], about["image_download_size"]) == (512, 6)
    assert about["release_date"] == "2026-05-28"


def test_the_form_that_it_fills_in_is_one_that_the_box_reads(files: tuple[Path, Path]) -> None:
    assert entry(files)["init_format"] == "cloudinit-rpi"
    assert {"user-data", "network-config"} <= set(seed_parsers.FORMS)


def test_it_is_had_where_its_maker_says_or_where_it_lies(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(imager.DOWNLOAD, raising=False)
    assert entry(files)["url"] == files[0].as_uri()
    monkeypatch.setenv(imager.DOWNLOAD, "https://example.org/interlude/")
    assert entry(files)["url"] == "https://example.org/interlude/interlude.img.zst"
