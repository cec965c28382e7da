"""A time zone is found by its own name, and by a former name without a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.provision.time_zones import FOLDER, TABLE, find_zone

THERE = ("Europe/Kyiv", "Asia/Kolkata", "Etc/UTC")
LINKS = """# version 2026f
Z Europe/Kyiv 2:2:4 - LMT 1880
L Europe/Kyiv Europe/Kiev
L Europe/Kiev Europe/Old
L Etc/UTC UTC
L Away/Gone Away/Alias
L Round/One Round/Two
L Round/Two Round/One
L broken
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    zones = tmp_path / FOLDER
    for name in THERE:
        (zones / name).parent.mkdir(parents=True, exist_ok=True)
        (zones / name).touch()
    (zones / TABLE).write_text(LINKS)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Europe/Kyiv", "Europe/Kyiv"),
        ("Europe/Kiev", "Europe/Kyiv"),
        ("Europe/Old", "Europe/Kyiv"),
        ("UTC", "Etc/UTC"),
        ("Asia/Kolkata", "Asia/Kolkata"),  # not in the table
    ],
)
def test_a_zone_is_found_by_each_of_its_names(root: Path, name: str, found: str) -> None:
    assert find_zone(root, name) == found


@pytest.mark.parametrize(
    "name", ["Europe/Nowhere", "Europe", "europe/kiev", "Away/Alias", "Round/One", "broken", "L"]
)
def test_a_name_that_resolves_to_no_file_is_no_zone(root: Path, name: str) -> None:
    assert find_zone(root, name) == ""


def test_a_former_name_with_its_own_file_is_kept(root: Path) -> None:
    (root / FOLDER / "Europe/Kiev").touch()
    assert find_zone(root, "Europe/Kiev") == "Europe/Kiev"


@pytest.mark.parametrize("table", [None, b"L Europe/Kyiv Europe/Kiev\n\xff\n"])
def test_without_a_readable_table_only_names_with_files_are_found(
    root: Path, table: bytes | None
) -> None:
    place = root / FOLDER / TABLE
    place.unlink()
    if table is not None:
        place.write_bytes(table)
    assert find_zone(root, "Europe/Kyiv") == "Europe/Kyiv"
    assert find_zone(root, "Europe/Kiev") == ""


def test_every_alias_of_the_real_table_resolves_if_only_the_zones_have_files(
    tmp_path: Path,
) -> None:
    real = Path("/") / FOLDER / TABLE
    zones = tmp_path / FOLDER
    rows = [line.split() for line in real.read_text().splitlines()]
    named = {row[1] for row in rows if row[0] == "Z"}
    for name in named:
        (zones / name).parent.mkdir(parents=True, exist_ok=True)
        (zones / name).touch()
    (zones / TABLE).write_bytes(real.read_bytes())
    aliases = [row[2] for row in rows if row[0] == "L"]
    assert {"US/Eastern", "Asia/Calcutta", "Europe/Kiev"} <= set(aliases)
    assert {find_zone(tmp_path, alias) for alias in aliases} <= named  # no result is ""


def test_a_name_that_leads_out_of_the_folder_is_no_zone(root: Path, tmp_path: Path) -> None:
    """Debian's `localtime` is a link to /etc/localtime, which is a link to the box's zone."""
    zones, etc = root / FOLDER, tmp_path / "etc"
    etc.mkdir()
    (zones / "localtime").symlink_to(etc / "localtime")
    (zones / "loop").symlink_to(zones / "loop")
    (zones / "Kyiv").symlink_to("Europe/Kyiv")
    (etc / "localtime").write_text("a zone that somebody copied there")
    assert find_zone(root, "localtime") == find_zone(root, "loop") == ""
    (etc / "localtime").unlink()
    (etc / "localtime").symlink_to(zones / "localtime")  # what would be set
    assert find_zone(root, "localtime") == ""
    assert find_zone(root, "Kyiv") == "Kyiv"
