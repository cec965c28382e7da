"""`interlude voices`: the installed voices, the programs that speak them, and the bundles on a
stick."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from appliance.cli.voices import MOST_FILES, cli_list, handed_over
from appliance.settings import Settings, load
from tests.voice.bundles import plant


def settings(folder: Path) -> Settings:
    return load(None, {"state_dir": str(folder)})


def fetched(folder: Path, name: str) -> None:
    place = folder / "models" / name
    place.mkdir(parents=True)
    for file in ("x.onnx", "x.onnx.json"):
        (place / file).touch()


def listed(folder: Path) -> str:
    console = Console(file=io.StringIO(), width=200)
    assert cli_list(settings(folder), console) == 0
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def row(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


def test_a_voice_is_listed_with_its_program_or_the_reason_why_it_has_none(tmp_path: Path) -> None:
    fetched(tmp_path, "anna")
    assert "is not installed" in row(listed(tmp_path), "anna")
    plant(tmp_path / "voices", "", version="0.2.0")
    assert "piper 0.2.0" in row(listed(tmp_path), "anna")
    assert "the models" in row(listed(tmp_path), "anna")


def test_a_voice_of_a_bundle_is_distinguished_from_a_fetched_one(tmp_path: Path) -> None:
    folder = plant(tmp_path / "voices", "", voices=("berta",))
    (folder / "voices/berta").mkdir(parents=True)
    (folder / "voices/berta/x.onnx").touch()
    assert "the program's bundle" in row(listed(tmp_path), "berta")


def test_an_incompatible_program_is_listed_with_the_reason(tmp_path: Path) -> None:
    plant(tmp_path / "voices", "", machine="pdp11")
    assert "made for pdp11" in row(listed(tmp_path), "program piper 0.1.0")
    assert "espeak-ng" in row(listed(tmp_path), "espeak")


def test_a_folder_yields_the_bundles_at_its_top_level_up_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.voice", "a.voice", "c.release", "deep/d.voice"):
        (tmp_path / name).touch()
    assert handed_over(tmp_path) == [tmp_path / "a.voice", tmp_path / "b.voice"]
    for number in range(2 * MOST_FILES):
        (tmp_path / f"{number:02}.voice").touch()
    assert len(handed_over(tmp_path)) == MOST_FILES


@pytest.mark.parametrize("name", ["x.voice", "x.release", "none"])
def test_a_file_is_returned_whatever_its_name_is(tmp_path: Path, name: str) -> None:
    assert handed_over(tmp_path / name) == [tmp_path / name]
