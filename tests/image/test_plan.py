"""What a step made is made once, and never half."""

from __future__ import annotations

from pathlib import Path

import pytest

from image.plan import ROOT, lines, once


class Maker:
    """Writes a file, and counts how often it was asked."""

    def __init__(self, content: str = "made") -> None:
        self.content, self.asked = content, 0

    def __call__(self, path: Path) -> None:
        self.asked += 1
        path.write_text(self.content)


def test_the_same_inputs_are_made_once(tmp_path: Path) -> None:
    maker = Maker()
    first = once(tmp_path, "thing", ["a", b"b"], maker)
    assert once(tmp_path, "thing", ["a", b"b"], maker) == first
    assert maker.asked == 1
    assert first.read_text() == "made"


def test_other_inputs_are_made_anew_and_the_old_goes(tmp_path: Path) -> None:
    maker = Maker()
    first = once(tmp_path, "thing", ["a", "b"], maker)
    second = once(tmp_path, "thing", ["ab", ""], maker)
    assert maker.asked == 2
    assert second != first
    assert not first.exists()


def test_another_thing_stays(tmp_path: Path) -> None:
    other = once(tmp_path, "other", ["a"], Maker())
    once(tmp_path, "thing", ["a"], Maker())
    once(tmp_path, "thing", ["b"], Maker())
    assert other.exists()


def test_what_was_cut_short_is_not_taken_for_made(tmp_path: Path) -> None:
    def fails(path: Path) -> None:
        path.mkdir()
        (path / "half").write_text("")
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        once(tmp_path, "thing", ["a"], fails)
    assert once(tmp_path, "thing", ["a"], Maker()).read_text() == "made"


def test_a_list_has_no_remarks_in_it(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("# why\nudev\n\nkmod # modules\n")
    assert lines(path) == ["udev", "kmod"]


def test_the_image_has_the_time_zones_by_their_former_names_too() -> None:
    """Debian 13 has them in a package of their own; Imager's form still offers Europe/Kiev."""
    assert {"tzdata", "tzdata-legacy"} <= set(lines(ROOT / "image/base.txt"))
