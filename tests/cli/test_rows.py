"""The rows of the process table that run on this box, with the changes of its settings."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.cli import rows
from appliance.errors import SettingsError
from appliance.settings import Settings, load


def names(settings: Settings) -> set[str]:
    return {row.name for row in rows.rows_to_run(settings)}


def settings(**changes: Any) -> Settings:
    return load(None, changes)


def test_a_row_of_the_process_table_can_be_changed() -> None:
    found = rows.rows_to_run(settings(processes={"thinker": {"cores": [1, 2, 3], "nice": -5}}))
    thinker = next(row for row in found if row.name == "thinker")
    assert (thinker.cores, thinker.nice) == ((1, 2, 3), -5)


def test_a_process_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"processes\.tinker.*There are .*thinker"):
        rows.rows_to_run(settings(processes={"tinker": {"nice": 1}}))


def test_the_link_runs_with_a_broker_and_the_panel_with_pins() -> None:
    assert not {"link", "panel"} & names(settings(panel={"gpio": "none"}))
    both = settings(link={"broker": "homeassistant.local"}, panel={"gpio": "keyboard"})
    assert {"link", "panel"} <= names(both)


def test_the_word_process_runs_unless_no_recogniser_is_set_or_needed() -> None:
    none = {"words": {"recogniser": "none"}}
    assert "words" in names(settings(hearing={"words": {"recogniser": "pocketsphinx"}}))
    assert "words" not in names(settings(hearing=none))
    assert "words" in names(settings(hearing=none, mode="wake_word"))
