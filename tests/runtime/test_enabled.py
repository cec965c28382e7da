"""The rows of the process table that run, with the owner's changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.errors import SettingsError
from appliance.runtime import process_table
from appliance.runtime.enabled import rings_to_make, rows_to_run
from appliance.runtime.process_table import Process
from appliance.settings import load


def rows(*, words: bool = True, **changes: Any) -> dict[str, Process]:
    return {row.name: row for row in rows_to_run(load(None, changes), words=words)}


def test_the_owner_can_change_single_fields_of_a_row() -> None:
    found = rows(processes={"thinker": {"cores": [1, 2, 3]}, "capture": {"priority": 0, "nice": 4}})
    thinker = process_table.row("thinker")
    assert (found["thinker"].cores, found["thinker"].nice) == ((1, 2, 3), thinker.nice)
    assert (found["capture"].priority, found["capture"].nice) == (0, 4)
    assert found["playback"] == process_table.row("playback")


def test_a_change_to_a_process_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"no such process\. There are capture, conductor"):
        rows(processes={"thinkr": {"nice": 1}})


def test_a_disabled_row_may_be_changed() -> None:
    assert "link" not in rows(processes={"link": {"nice": 1}})


@pytest.mark.parametrize("words", [True, False])
def test_words_run_only_if_they_are_wanted(words: bool) -> None:
    assert ("words" in rows(words=words)) == words


def test_rows_keep_the_order_of_the_table() -> None:
    every = rows(link={"broker": "here"}, panel={"gpio": "keyboard"}, page={"enabled": True})
    assert list(every) == [row.name for row in process_table.PROCESSES]


@pytest.mark.parametrize("voice", ["head", "auto", "espeak-ng"])
def test_the_ring_of_states_is_created_only_for_the_voice_that_uses_it(
    voice: str, tmp_path: Path
) -> None:
    settings = load(None, {"speaking": {"voice": voice}, "state_dir": str(tmp_path)})
    made = [ring.name for ring in rings_to_make(settings)]
    every = [ring.name for ring in process_table.RINGS]
    left_out = {process_table.TRIED} | ({process_table.STATES} if voice != "head" else set())
    assert made == [name for name in every if name not in left_out]


@pytest.mark.parametrize("page", [True, False])
def test_the_ring_of_the_microphone_test_is_created_only_with_the_page(
    page: bool, tmp_path: Path
) -> None:
    settings = load(None, {"page": {"enabled": page}, "state_dir": str(tmp_path)})
    assert (process_table.TRIED in [ring.name for ring in rings_to_make(settings)]) == page
