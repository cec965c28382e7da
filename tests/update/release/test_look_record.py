"""The result of a look is written by a user without rights and read as untrusted data."""

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


def test_a_look_is_recorded_while_it_runs_and_when_it_ends(tmp_path: Path) -> None:
    with LookReporter("web", tmp_path, lambda: NOW_S).looking() as reporter:
        assert look_record.read("web", tmp_path) == LookRecord(NOW_S, "looks")
        reporter.fetches("0.3.0")
        assert look_record.read("web", tmp_path) == LookRecord(NOW_S, "fetches", "0.3.0")
        reporter.over(BoxSentence.of("page-look-asked", version="0.3.0"))
    record = look_record.read("web", tmp_path)
    assert record is not None
    assert (record.phase, record.key, record.values) == (
        "over",
        "page-look-asked",
        {"version": "0.3.0"},
    )
    assert "0.3.0 was found" in record.text
    assert look_record.read("stick", tmp_path) is None


def test_an_error_that_ends_a_look_is_recorded_and_propagates(tmp_path: Path) -> None:
    error = FetchError("It is away.", shown=ShownAs.of("page-wrong-look-reach", at="x"))
    with pytest.raises(FetchError), LookReporter("web", tmp_path).looking():
        raise error
    record = look_record.read("web", tmp_path)
    assert record is not None
    assert (record.phase, record.well, record.text) == ("over", False, "It is away.")
    assert (record.key, record.values) == ("page-wrong-look-reach", {"at": "x"})


def test_a_look_runs_even_if_it_cannot_be_recorded(tmp_path: Path) -> None:
    with LookReporter("web", tmp_path / "none").looking() as reporter:
        reporter.fetches("0.3.0")
    assert look_record.read("web", tmp_path / "none") is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b"[" * 9000, b'{"at_s": -1, "phase": "over"}',
     b'{"at_s": 1, "phase": "dances"}', b'{"at_s": 1, "phase": "over", "text": "'
     + b"x" * 2000 + b'"}'],
)  # fmt: skip
def test_an_invalid_record_is_ignored(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "web").write_bytes(data)
    assert look_record.read("web", tmp_path) is None


def test_a_link_or_fifo_in_place_of_a_record_is_ignored_without_blocking(tmp_path: Path) -> None:
    (tmp_path / "web").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "stick")
    assert look_record.read("web", tmp_path) is None
    assert look_record.read("stick", tmp_path) is None


def test_an_interrupted_look_counts_as_running_for_a_limited_time() -> None:
    record = LookRecord(NOW_S, "fetches", "0.3.0")
    assert record.goes_on(NOW_S + LONGEST_S - 1)
    assert not record.goes_on(NOW_S + LONGEST_S + 1)
    assert not record.goes_on(NOW_S - LONGEST_S - 1), "the clock was set back"
    assert not LookRecord(NOW_S, "over").goes_on(NOW_S)


def test_a_requested_look_is_awaited_until_it_starts_or_its_time_is_over(tmp_path: Path) -> None:
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


def test_a_server_that_is_held_back_is_noticed_after_thirty_days_and_a_new_address_counts(
    tmp_path: Path,
) -> None:
    """A network that answers no look, or a part that prevents it, keeps updates from the box."""
    pull = tmp_path / "pull.env"
    day_s = 86_400.0
    assert not look_record.is_stale(NOW_S, tmp_path, pull)  # the box looks nowhere
    pull.touch()
    os.utime(pull, (NOW_S, NOW_S))
    assert not look_record.is_stale(NOW_S + 29 * day_s, tmp_path, pull)
    assert look_record.is_stale(NOW_S + 30 * day_s, tmp_path, pull)
    os.utime(pull, (0.0, 0.0))
    look_record.note_success(tmp_path)
    succeeded_s = (tmp_path / look_record.SUCCEEDED).stat().st_mtime
    assert not look_record.is_stale(succeeded_s + 29 * day_s, tmp_path, pull)
    assert look_record.is_stale(succeeded_s + 30 * day_s, tmp_path, pull)
    look_record.note_success(tmp_path / "none")
