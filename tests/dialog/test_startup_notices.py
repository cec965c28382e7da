"""Notices announced at a start: once, or at each start while the cause lasts."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from appliance.dialog import startup_notices
from appliance.dialog.startup_notices import StartupNotices, gather
from tests.waiting import PATIENCE_S, until

LEFT = "Version 1.2.0 did not stay up, so I went back to version 1.1.0."
MISTAKE = "There is a mistake in your settings."


def mark_spoken(state: Path, notices: StartupNotices) -> None:
    """Mark the notices as spoken and wait until the disk has the note."""
    startup_notices.mark_spoken(state, notices)
    note = state / startup_notices.TOLD
    until(lambda: note.exists() and note.read_text() == notices.once)


def test_a_fallback_is_announced_once(state: Path) -> None:
    first = gather(state, "", [LEFT])
    assert first.sentences == [LEFT]
    assert gather(state, "", [LEFT]) == first, "it is not marked as spoken yet"
    mark_spoken(state, first)
    assert gather(state, "", [LEFT]).sentences == []
    assert gather(state, "", ["Another."]).sentences == ["Another."]


def test_a_settings_mistake_is_announced_at_each_start_and_hides_no_fallback(state: Path) -> None:
    mark_spoken(state, gather(state, "", [LEFT]))
    assert gather(state, MISTAKE, [LEFT]).sentences == [MISTAKE]
    assert gather(state, MISTAKE, ["Another."]).sentences == [MISTAKE, "Another."]


def test_a_start_without_a_fallback_writes_no_note(state: Path) -> None:
    startup_notices.mark_spoken(state, gather(state, MISTAKE, []))
    assert list(state.iterdir()) == []


def test_an_unwritable_card_prevents_no_start_and_the_fallback_is_announced_again(
    state: Path,
) -> None:
    (state / startup_notices.TOLD).mkdir(parents=True)  # a directory, which no file can replace
    before = set(threading.enumerate())
    startup_notices.mark_spoken(state, gather(state, "", [LEFT]))
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
    assert gather(state, "", [LEFT]).sentences == [LEFT]


def test_notices_handed_over_in_the_environment_are_read_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment: dict[str, str] = {}
    startup_notices.hand_over(StartupNotices("a “mistake”", LEFT), environment)
    monkeypatch.setenv(startup_notices.HANDED, environment[startup_notices.HANDED])
    assert startup_notices.handed_over() == StartupNotices("a “mistake”", LEFT)
    monkeypatch.delenv(startup_notices.HANDED)
    assert startup_notices.handed_over().sentences == []
