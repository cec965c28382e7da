"""The result of a build step is made once, and never half."""

from __future__ import annotations

from pathlib import Path

import pytest

from image.plan import ROOT, lines, once


class Maker:
    """Writes a file and counts its calls."""

    def __init__(self, content: str = "made") -> None:
        self.content, self.calls = content, 0

    def __call__(self, path: Path) -> None:
        self.calls += 1
        path.write_text(self.content)


def test_the_same_inputs_are_built_once(tmp_path: Path) -> None:
    maker = Maker()
    first = once(tmp_path, "thing", ["a", b"b"], maker)
    assert once(tmp_path, "thing", ["a", b"b"], maker) == first
    assert maker.calls == 1
    assert first.read_text() == "made"


def test_other_inputs_are_built_anew_and_replace_the_old_result(tmp_path: Path) -> None:
    maker = Maker()
    first = once(tmp_path, "thing", ["a", "b"], maker)
    second = once(tmp_path, "thing", ["ab", ""], maker)
    assert maker.calls == 2
    assert second != first
    assert not first.exists()


def test_the_result_of_another_step_is_kept(tmp_path: Path) -> None:
    other = once(tmp_path, "other", ["a"], Maker())
    once(tmp_path, "thing", ["a"], Maker())
    once(tmp_path, "thing", ["b"], Maker())
    assert other.exists()


def test_an_interrupted_result_is_not_used(tmp_path: Path) -> None:
    def fails(path: Path) -> None:
        path.mkdir()
        (path / "half").write_text("")
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        once(tmp_path, "thing", ["a"], fails)
    assert once(tmp_path, "thing", ["a"], Maker()).read_text() == "made"


def test_comments_of_a_list_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("# why\nudev\n\nkmod # modules\n")
    assert lines(path) == ["udev", "kmod"]


def test_the_image_contains_the_former_names_of_time_zones() -> None:
    """Debian 13 has them in a separate package, and Imager's form still offers Europe/Kiev."""
    assert {"tzdata", "tzdata-legacy"} <= set(lines(ROOT / "image/base.txt"))
