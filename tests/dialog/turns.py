"""A remembered turn, for tests."""

from __future__ import annotations

from appliance.dialog.memory import RememberedTurn


def turn(number: int, heard: str = "The moon is grey.", *, complete: bool = True) -> RememberedTurn:
    return RememberedTurn("2026-01-01T10:00:00+00:00", number, "", 1.5, heard, complete, "pocket")
