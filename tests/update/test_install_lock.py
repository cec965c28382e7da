"""One installation at a time, and the lock ends with whoever holds it."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from appliance.errors import InstallDeferred
from appliance.update.install_lock import locked


def test_a_second_installation_is_put_off_until_the_first_is_over(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with (
        locked(path),
        pytest.raises(InstallDeferred, match="under way"),
        locked(path),
    ):
        raise AssertionError("two at a time")
    with locked(path):
        assert path.stat().st_mode & 0o777 == 0o600


def test_the_lock_is_the_one_that_the_program_of_the_system_takes(tmp_path: Path) -> None:
    """fallback.py: flock(2) on the file."""
    path = tmp_path / ".lock"
    with path.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InstallDeferred), locked(path):
            raise AssertionError("two at a time")


def test_what_blocks_inside_is_no_other_installation(tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError), locked(tmp_path / ".lock"):
        raise BlockingIOError("a pipe that is full")
