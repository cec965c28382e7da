"""What came of a look is told by who has no rights, and read as a stranger's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.errors import FetchError, ShownAs
from appliance.language.catalogue import BoxSentence
from appliance.update.release import look_record
from appliance.update.release.look_record import (
    AWAITED_S,
    LONGEST_S,
    LookRecord,
    LookReporter,
    awaited,
    mark,
)

NOW_S = 1.8e9


def test_a_look_is_told_as_it_goes_and_ends(tmp_path: Path) -> None:
    with LookReporter("web", tmp_path, lambda: NOW_S).looking() as reporter:
        assert look_record.read("web", tmp_path) == LookRecord(NOW_S, "looks")
        reporter.fetches("0.3.0")
        assert look_record.read("web", tmp_path) == LookRecord(NOW_S, "fetches", "0.3.0")
        reporter.over(BoxSentence.of("page-look-asked", version="0.3.0"))
    told = look_record.read("web", tmp_path)
    assert told is not None
    assert (told.phase, told.key, told.values) == ("over", "page-look-asked", {"version": "0.3.0"})
    assert "0.3.0 was found" in told.text
    assert look_record.read("stick", tmp_path) is None


def test_an_error_that_ends_it_is_told_and_goes_on(tmp_path: Path) -> None:
    error = FetchError("It is away.", shown=ShownAs.of("page-wrong-look-reach", at="x"))
    with pytest.raises(FetchError), LookReporter("web", tmp_path).looking():
        raise error
    told = look_record.read("web", tmp_path)
    assert told is not None
    assert (told.phase, told.well, told.text) == ("over", False, "It is away.")
    assert (told.key, told.values) == ("page-wrong-look-reach", {"at": "x"})


def test_where_it_cannot_be_told_it_looks_all_the_same(tmp_path: Path) -> None:
    with LookReporter("web", tmp_path / "none").looking() as reporter:
        reporter.fetches("0.3.0")
    assert look_record.read("web", tmp_path / "none") is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b"[" * 9000, b'{"at_s": -1, "phase": "over"}',
     b'{"at_s": 1, "phase": "dances"}', b'{"at_s": 1, "phase": "over", "text": "'
     + b"x" * 2000 + b'"}'],
)  # fmt: skip
def test_what_is_no_record_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "web").write_bytes(data)
    assert look_record.read("web", tmp_path) is None


def test_a_link_or_a_fifo_under_its_name_is_none_and_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "web").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "stick")
    assert look_record.read("web", tmp_path) is None
    assert look_record.read("stick", tmp_path) is None


def test_a_look_that_was_cut_short_does_not_go_on_for_ever() -> None:
    begun = LookRecord(NOW_S, "fetches", "0.3.0")
    assert begun.goes_on(NOW_S + LONGEST_S - 1)
    assert not begun.goes_on(NOW_S + LONGEST_S + 1)
    assert not begun.goes_on(NOW_S - LONGEST_S - 1), "a clock that was set back"
    assert not LookRecord(NOW_S, "over").goes_on(NOW_S)


def test_what_was_ordered_is_awaited_until_it_began_or_for_so_long(tmp_path: Path) -> None:
    looked, changed = tmp_path / "looked", tmp_path / "changed"
    for folder in (looked, changed):
        folder.mkdir()

    def now(after_s: float) -> bool:
        return awaited("stick", NOW_S + after_s, looked, changed)

    assert not now(0.0)
    LookReporter("stick", looked, lambda: NOW_S - 5).over(BoxSentence.of("page-look-stick-none"))
    mark("stick", changed).touch()
    os.utime(mark("stick", changed), (NOW_S, NOW_S))
    assert now(1.0)
    assert now(AWAITED_S["stick"] - 1)
    assert not now(AWAITED_S["stick"] + 1)
    assert not awaited("web", NOW_S + 1, looked, changed)
    LookReporter("stick", looked, lambda: NOW_S + 2).over(BoxSentence.of("page-look-stick-none"))
    assert not now(3.0)
