"""Which rows run, with the changes that an owner has made to them."""

from __future__ import annotations

import pytest

from appliance import settings
from appliance.cli.rows import rows_to_run
from appliance.errors import SettingsError
from appliance.runtime import process_table


def test_an_owner_may_move_a_process_to_other_cores() -> None:
    changed = settings.load(None, overrides={"processes": {"thinker": {"cores": [1, 2, 3]}}})
    rows = {part.name: part for part in rows_to_run(changed)}
    assert rows["thinker"].cores == (1, 2, 3)
    assert rows["capture"] == process_table.row("capture")


def test_a_change_to_a_process_that_does_not_exist_is_refused() -> None:
    changed = settings.load(None, overrides={"processes": {"thinkr": {"nice": 1}}})
    with pytest.raises(SettingsError, match="no such process"):
        rows_to_run(changed)
